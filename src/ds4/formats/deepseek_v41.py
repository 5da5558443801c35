"""DeepSeek V4.1 Flash. As V4, but:

    BOS<｜System｜>effort line, blank line, system text <｜User｜>question<｜Assistant｜><think>...

<｜System｜> leads when the first message is a system message or there is an effort line, which
stands there in thinking mode only. A later system message stays at its place and counts as a user
turn. Old reasoning that is dropped leaves nothing behind.
"""

from dataclasses import replace

from ds4.formats import thinking
from ds4.formats.deepseek_v4 import CONTROL, DEEPSEEK_V4
from ds4.formats.tools.dsml import DSML_V41

DEEPSEEK_V41 = replace(
    DEEPSEEK_V4,
    name="deepseek-v4.1",
    marker="<｜System｜>",
    control=(*CONTROL, "<｜System｜>"),
    template="deepseek-v4.1",
    efforts=thinking.DEEPSEEK_V41,
    tool_format=DSML_V41,
)
