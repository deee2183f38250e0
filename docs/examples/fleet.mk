# Profiles into a lake with make: the map step is one plain command, so any scheduler can call it.
#
#   make -f fleet.mk -j 16 PROFILES="$(echo /nightly/*/*.json)" LAKE=/shared/lake
#
# A profile that changed is mapped again. The marks only save time: without them, content that the lake already has is
# skipped. Names with spaces need another tool than make.
STEPSCOPE ?= stepscope
LAKE ?= lake
MARKS ?= .mapped

fleet-report.json: $(addprefix $(MARKS),$(abspath $(PROFILES)))
	$(STEPSCOPE) fleet report $(LAKE) --json --output $@ --force

$(MARKS)/%: /%
	$(STEPSCOPE) fleet map /$* --out $(LAKE) --workers 1
	@mkdir -p $(@D) && touch $@
