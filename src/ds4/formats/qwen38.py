"""Qwen3.8 Flash Next: ChatML with a reasoning block at the head of an assistant turn.

    <|im_start|>assistant
    <think>
    reasoning
    </think>

    answer<|im_end|>

Only turns after the last user turn keep the block. Thinking off is an empty block in the
generation prompt.
"""

from dataclasses import replace

from ds4.formats.chatml import CHATML
from ds4.formats.tools.qwen_xml import QWEN_XML

QWEN38 = replace(CHATML, name="qwen3.8", archs=("qwen4exp",), template="qwen", tool_format=QWEN_XML)
