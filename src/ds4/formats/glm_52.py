"""GLM 5.2.

    [gMASK]<sop><|system|>text<|user|>question<|assistant|><think>reasoning</think>answer<|user|>...

No end marker: a turn ends where the next role marker begins, so sampling one ends an answer.
Reasoning before the last user turn is dropped and leaves a lone </think>.
"""

from ds4.formats.family import Family
from ds4.formats.reasoning import THINK
from ds4.formats.tools.glm import GLM

GLM_52 = Family(
    name="glm-5.2",
    archs=("glm-dsa",),
    bos=None,
    eos="<|endoftext|>",
    ends=("<|user|>", "<|observation|>"),
    control=(
        "<|endoftext|>",
        "[gMASK]",
        "<sop>",
        "<|system|>",
        "<|user|>",
        "<|assistant|>",
        "<|observation|>",
    ),
    markup=(
        "<think>",
        "</think>",
        "<tool_call>",
        "</tool_call>",
        "<arg_key>",
        "</arg_key>",
        "<arg_value>",
        "</arg_value>",
        "<tool_response>",
        "</tool_response>",
    ),
    template="glm",
    reasoning=THINK,
    tool_format=GLM,
)
