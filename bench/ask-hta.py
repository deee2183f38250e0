"""Runs Holistic Trace Analysis on one trace: time by kind, kernels by kind, idle by cause.

usage: ask-hta.py TRACE.json [--fast]

--fast: the settings that its documentation recommends for large traces: the streaming parser on yajl, and only the
event arguments that these three analyses need.
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
