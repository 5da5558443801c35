"""DeepSeek V4 Flash and PRO.

    BOS tools, blank line, system text <｜User｜>question<｜Assistant｜><think>reasoning</think>answer EOS...

System text has no marker. Without tools only the reasoning after the last user turn is sent again; the
place of older reasoning is a lone </think>. An assistant turn that follows no user turn has neither marker
nor thinking part.
"""

from ds4.formats import thinking
from ds4.formats.family import Alias, Family
from ds4.formats.reasoning import THINK
from ds4.formats.tools.dsml import DSML

BOS = "<｜begin▁of▁sentence｜>"
EOS = "<｜end▁of▁sentence｜>"

CONTROL = (
    BOS,
    EOS,
    "<｜User｜>",
    "<｜Assistant｜>",
    "<｜latest_reminder｜>",
    "<｜action｜>",
    "<｜query｜>",
    "<｜authority｜>",
    "<｜domain｜>",
    "<｜title｜>",
    "<｜read_url｜>",
)
MARKUP = ("<think>", "</think>", "｜DSML｜")
ALIASES = (
    Alias("deepseek-v4-flash"),
    Alias("deepseek-v4-pro"),
    Alias("deepseek-chat", thinking=False),
    Alias("deepseek-reasoner", thinking=True),
)

DEEPSEEK_V4 = Family(
    name="deepseek-v4",
    archs=("deepseek4",),
    bos=BOS,
    eos=EOS,
    control=CONTROL,
    markup=MARKUP,
    template="deepseek-v4",
    aliases=ALIASES,
    efforts=thinking.DEEPSEEK_V4,
    reasoning=THINK,
    tool_format=DSML,
)
