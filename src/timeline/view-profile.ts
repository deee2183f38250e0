/** A profile as the page sees it: the timeline, the answer and every analysis, each made when first asked for. */
import { Analyzer, inOrderOfUse, type Settings } from '../analyze/analysis.js';
import { flameDocument } from '../analyze/host-code/flame-document.js';
import { chooseAnalyses } from '../analyze/index.js';
import { iterations } from '../analyze/inference/iterations.js';
import { blocksOf } from '../analyze/outcome-blocks.js';
import { describePageAnswer } from '../analyze/page.js';
import { formatThroughput } from '../analyze/words.js';
import { UserError } from '../base/user-error.js';
import type { Profile } from '../model/profile.js';
import { anticipateAnswer } from './anticipate-answer.js';
import { companyOf, likeOf } from './event-company.js';
import { eventFacts } from './event-details.js';
import { EventLinks } from './event-links.js';
import { traceOf } from './export/chrome-trace.js';
import { ownEvents } from './export/own-events.js';
import { csvOf } from './export-csv.js';
import { makeSnapshot } from './make-snapshot.js';
import { ranksDocument, waitsWithin } from './ranks/rank-documents.js';
import { type SearchResult, search } from './search/search.js';
import { selectedEvents } from './selection/selected-events.js';
import { selectionDocument } from './selection/selection.js';
import type { StepSpan } from './spans.js';
import { type TimelineData, timelineData } from './timeline-data.js';
import { type LaneData, rowAt } from './track.js';
import type { ViewedProfile } from './viewed-profile.js';
import { LABELS_PER_PAGE, type RanksDocument } from './wire.js';

/** Selections and searches that are kept: people go back and forth between a few. */
const KEPT = 8;
/** A gain below one part in a hundred is no headline. */
const WORTH_SAYING = 0.01;

export function viewProfile(profile: Profile, settings: Settings, name: string): ViewedProfile {
  const analyzer = new Analyzer(profile, settings);
  let data: TimelineData | undefined;
  let links: EventLinks | undefined;
  let ranks: RanksDocument | undefined;
  const timeline = () => (data ??= timelineData(analyzer));
  const searches = new Recent<SearchResult>(KEPT);
  const analyzers = new Recent<Analyzer>(KEPT);
  const searched = (query: string) => searches.get(query, () => search(timeline(), query));
  const lookingAt = (steps: StepSpan | undefined) => {
    if (!steps) return analyzer;
    const count = timeline().document.steps.length;
    if (!(steps.first >= 0 && steps.last >= steps.first && steps.last < count))
      throw new UserError('usage', 'The requested steps do not exist.', `Steps are 0 to ${count - 1}.`);
    return analyzers.get(`${steps.first}-${steps.last}`, () => analyzer.lookingAt({ steps }));
  };
  const laneAt = (lane: number, index: number): LaneData => {
    const found = timeline().lanes[lane]?.lane;
    if (found?.kind === 'slices' && index >= 0 && index < found.data.length) return found.data;
    throw new UserError(
      'not-found',
      'The requested event does not exist.',
      'The link may belong to another profile.',
    );
  };
  const knownOf = (lane: number, index: number) => {
    const events = laneAt(lane, index);
    links ??= new EventLinks(analyzer, timeline());
    return {
      facts: eventFacts(analyzer, events, index),
      ...links.of(events.source, rowAt(events.row, index)),
    };
  };
  const view: ViewedProfile = {
    name,
    async prepare(onPhase, breathe) {
      for (const derived of inOrderOfUse(iterations)) {
        analyzer.anticipate(derived);
        await breathe();
      }
      onPhase('Laying out the timeline');
      await breathe();
      timeline();
    },
    prepareAnswer: breathe => anticipateAnswer(analyzer, breathe),
    timeline: () => timeline().document,
    columns: () => timeline().columns.bytes,
    labels(page) {
      const { labels } = timeline();
      const from = page * LABELS_PER_PAGE;
      const count = Math.max(0, Math.min(LABELS_PER_PAGE, labels.length - from));
      return Array.from({ length: count }, (_, i) => labels.text(from + i));
    },
    event(lane, index) {
      const events = laneAt(lane, index);
      const { labels } = timeline();
      return {
        lane,
        index,
        startNs: events.start[index],
        endNs: events.end[index],
        title: labels.text(events.label[index]),
        name: labels.name(events.label[index]),
        company: companyOf(timeline(), events, index),
        ...knownOf(lane, index),
      };
    },
    like: name => likeOf(timeline(), name),
    search: query => searched(query).document,
    searchColumns: query => searched(query).columns.bytes,
    match: (query, at) => ('n' in at ? searched(query).match(at.n) : searched(query).near(at.near)),
    ranks: () => (ranks ??= ranksDocument(analyzer)),
    waits: (fromNs, toNs) => waitsWithin(analyzer, fromNs, toNs),
    selection: asked => selectionDocument(timeline(), asked),
    selectedEvents: asked => selectedEvents(timeline(), asked),
    answer(steps) {
      const chosen = lookingAt(steps);
      const { answer, headline, phases } = describePageAnswer(chosen);
      const gain = headline?.gain;
      return {
        lines: answer.lines,
        hasFigures: phases.length > 0,
        gain:
          gain && gain.throughput >= WORTH_SAYING
            ? {
                amount: `${formatThroughput(gain.throughput)} ${headline.phase === null ? 'speed' : 'steps/s'}`,
                how: gain.how,
              }
            : null,
      };
    },
    panel(id, steps) {
      const chosen = lookingAt(steps);
      const [analysis] = chooseAnalyses([id]);
      return { blocks: blocksOf(chosen.run(analysis), profile) };
    },
    flame: (steps, during) => flameDocument(during ? analyzer.lookingAt({ during }) : lookingAt(steps)),
    lookingAt,
    trace: (fromNs, toNs) => traceOf(profile, { fromNs, toNs }, ownEvents(analyzer, { fromNs, toNs })),
    csv: (fromNs, toNs) => csvOf(timeline(), { fromNs, toNs }),
    snapshot: asked => makeSnapshot(view, timeline(), asked, knownOf),
  };
  return view;
}

/** The last few things made, by key. */
class Recent<Thing> {
  private readonly kept = new Map<string, Thing>();
  constructor(private readonly most: number) {}

  get(key: string, make: () => Thing): Thing {
    const thing = this.kept.get(key) ?? make();
    this.kept.delete(key);
    this.kept.set(key, thing);
    if (this.kept.size > this.most) this.kept.delete(this.kept.keys().next().value!);
    return thing;
  }
}
