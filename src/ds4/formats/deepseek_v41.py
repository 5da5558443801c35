"""DeepSeek V4.1 Flash. As V4, but:

    BOS<｜System｜>effort line, blank line, system text <｜User｜>question<｜Assistant｜><think>...

<｜System｜> leads when the first message is a system message or there is an effort line, which
stands there in thinking mode only. A later system message stays at its place and counts as a user
turn. Old reasoning that is dropped leaves nothing behind.
"""

from dataclasses import replace

from ds4.formats.deepseek_v4 import CONTROL, DEEPSEEK_V4

TEMPLATE = r"""
{{- '<｜begin▁of▁sentence｜>' -}}
{%- set thinks = thinking is not defined or thinking is none or thinking -%}
{%- set levels = {'minimal': 50, 'low': 50, 'max': 100} -%}
{%- set effort = reasoning_effort if reasoning_effort is number else levels.get(reasoning_effort, 75) -%}
{%- set leads = messages and messages[0].role in ['system', 'developer'] -%}
{%- set ns = namespace(last=-1, asked=false) -%}
{%- for m in messages -%}
  {%- if m.role != 'assistant' and not (loop.first and leads) -%}
    {%- set ns.last = loop.index0 -%}
  {%- endif -%}
{%- endfor -%}
{%- if leads or thinks -%}
  {{- '<｜System｜>' -}}
{%- endif -%}
{%- if thinks -%}
  {{- 'Reasoning Effort: ' ~ effort
      ~ ' (range 1-100, the higher the value, the more thorough the reasoning)\n\n' -}}
{%- endif -%}
{%- for m in messages -%}
  {%- if m.role == 'assistant' -%}
    {%- if ns.asked -%}
      {{- '<｜Assistant｜>' -}}
      {%- if not thinks -%}
        {{- '</think>' -}}
      {%- elif loop.index0 > ns.last -%}
        {{- '<think>' + (m.reasoning_content or '') + '</think>' -}}
      {%- endif -%}
    {%- endif -%}
    {{- (m.content or '') + '<｜end▁of▁sentence｜>' -}}
    {%- set ns.asked = false -%}
  {%- elif loop.first and leads -%}
    {{- m.content or '' -}}
  {%- else -%}
    {{- '<｜System｜>' if m.role in ['system', 'developer'] else '<｜User｜>' -}}
    {{- m.content or '' -}}
    {%- set ns.asked = true -%}
  {%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt and ns.asked -%}
  {{- '<｜Assistant｜>' + ('<think>' if thinks else '</think>') -}}
{%- endif -%}
"""

DEEPSEEK_V41 = replace(
    DEEPSEEK_V4,
    name="deepseek-v4.1",
    marker="<｜System｜>",
    control=(*CONTROL, "<｜System｜>"),
    template=TEMPLATE,
)
