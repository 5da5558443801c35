"""The vocabularies' special entries, by model family.

Spellings are the models' own. The bar in DeepSeek's is U+FF5C, its word separator U+2581.
"""

from ds4.testing.tiny.architecture import Family

LLAMA = Family(
    splitter="llama-bpe",
    template="llama.jinja",
    bos="<|begin_of_text|>",
    controls=("<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"),
    user_defined=(),
    ends={"eos": "<|end_of_text|>", "eot": "<|eot_id|>"},
)

GEMMA = Family(
    splitter="gpt-2",
    template="gemma.jinja",
    bos="<bos>",
    controls=("<eos>", "<start_of_turn>", "<end_of_turn>"),
    user_defined=(),
    ends={"eos": "<eos>", "eot": "<end_of_turn>"},
)

DEEPSEEK = Family(
    splitter="deepseek-v3",
    template="deepseek.jinja",
    bos="<｜begin▁of▁sentence｜>",
    controls=("<｜end▁of▁sentence｜>", "<｜User｜>", "<｜Assistant｜>"),
    user_defined=("<think>", "</think>", "｜DSML｜"),
    ends={"eos": "<｜end▁of▁sentence｜>"},
)

GLM = Family(
    splitter="glm4",
    template="glm.jinja",
    controls=(
        "<|endoftext|>",
        "[gMASK]",
        "<sop>",
        "<|system|>",
        "<|user|>",
        "<|assistant|>",
        "<|observation|>",
    ),
    user_defined=(
        "<think>",
        "</think>",
        "<tool_call>",
        "</tool_call>",
        "<arg_key>",
        "</arg_key>",
        "<arg_value>",
        "</arg_value>",
    ),
    # A GLM model ends its turn by opening the next one.
    ends={"eos": "<|endoftext|>", "eot": "<|user|>", "eom": "<|observation|>"},
)

QWEN = Family(
    splitter="qwen2",
    template="qwen.jinja",
    controls=("<|endoftext|>", "<|im_start|>", "<|im_end|>"),
    user_defined=("<think>", "</think>", "<tool_call>", "</tool_call>"),
    ends={"eos": "<|im_end|>"},
)
