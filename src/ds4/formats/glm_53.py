"""GLM 5.3: the spellings and the layout of GLM 5.2, with a larger smallest prefill quantum."""

from dataclasses import replace

from ds4.formats.glm_52 import GLM_52

GLM_53 = replace(GLM_52, name="glm-5.3", archs=("glm5-next",), min_quantum=1024)
