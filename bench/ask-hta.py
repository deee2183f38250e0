"""What Holistic Trace Analysis answers about one trace: time by kind, kernels by kind, idle by cause.

usage: ask-hta.py TRACE.json [--fast]

--fast: the settings its documentation gives for large traces. The streaming parser on yajl, and of the arguments of
events only those these three questions need.
"""
import sys

from hta.configs.parser_config import ParserBackend, ParserConfig
from hta.trace_analysis import TraceAnalysis

if "--fast" in sys.argv:
    config = ParserConfig(ParserConfig.get_minimum_args())
    config.set_parser_backend(ParserBackend.IJSON_BATCH_AND_COMPRESS)
    ParserConfig.set_default_cfg(config)
analysis = TraceAnalysis(trace_files={0: sys.argv[1]})
print(analysis.get_temporal_breakdown(visualize=False))
print(analysis.get_gpu_kernel_breakdown(visualize=False))
print(analysis.get_idle_time_breakdown(ranks=[0], visualize=False))
