"""ChatML, the default for architectures without an entry of their own.

<|im_start|>user
question<|im_end|>
<|im_start|>assistant
answer<|im_end|>
"""

from ds4.formats.family import Family

CONTROL = ("<|im_start|>", "<|im_end|>", "<|endoftext|>")
MARKUP = ("<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>")

CHATML = Family(
    name="chatml",
    archs=(),
    bos=None,
    eos="<|im_end|>",
    ends=("<|endoftext|>",),
    control=CONTROL,
    markup=MARKUP,
    template="chatml",
)
