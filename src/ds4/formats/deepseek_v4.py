"""DeepSeek V4 Flash and PRO.

    BOS system text <｜User｜>question<｜Assistant｜><think>reasoning</think>answer EOS<｜User｜>...

System texts of the whole history stand at the top, without a marker. In thinking mode only the
reasoning after the last user turn is sent again; the place of older reasoning is a lone </think>.
An assistant turn that follows no user turn has neither marker nor thinking part.
"""

from ds4.formats.family import Family

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
ALIASES = ("deepseek-v4-flash", "deepseek-v4-pro", "deepseek-chat", "deepseek-reasoner")

TEMPLATE = r"""
{{- '<｜begin▁of▁sentence｜>' -}}
{%- set thinks = thinking is not defined or thinking is none or thinking -%}
{%- set ns = namespace(system='', last=-1, asked=false) -%}
{%- for m in messages -%}
  {%- if m.role in ['system', 'developer'] -%}
    {%- set ns.system = ns.system + ('\n\n' if ns.system else '') + (m.content or '') -%}
  {%- elif m.role != 'assistant' -%}
    {%- set ns.last = loop.index0 -%}
  {%- endif -%}
{%- endfor -%}
{{- ns.system -}}
{%- for m in messages -%}
  {%- if m.role == 'assistant' -%}
    {%- if ns.asked -%}
      {{- '<｜Assistant｜>' -}}
      {%- if thinks and loop.index0 > ns.last -%}
        {{- '<think>' + (m.reasoning_content or '') -}}
      {%- endif -%}
      {{- '</think>' -}}
    {%- endif -%}
    {{- (m.content or '') + '<｜end▁of▁sentence｜>' -}}
    {%- set ns.asked = false -%}
  {%- elif m.role not in ['system', 'developer'] -%}
    {{- '<｜User｜>' + (m.content or '') -}}
    {%- set ns.asked = true -%}
  {%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt and ns.asked -%}
  {{- '<｜Assistant｜>' + ('<think>' if thinks else '</think>') -}}
{%- endif -%}
"""

DEEPSEEK_V4 = Family(
    name="deepseek-v4",
    archs=("deepseek4",),
    bos=BOS,
    eos=EOS,
    control=CONTROL,
    markup=MARKUP,
    template=TEMPLATE,
    aliases=ALIASES,
)
