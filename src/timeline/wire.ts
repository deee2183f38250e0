/**
 * What the server and the page say to each other. Both sides compile this file, so a change on one side that the other
 * does not follow is a type error. Events never travel as JSON: the page asks for byte ranges of one resource and wraps
 * typed arrays around what comes back (see tiles.ts for the layout of the bytes).
 *
 *   GET  /api/state                                  StateDocument
 *   PUT  /api/profiles?name=NAME                     the bytes of a dropped file → { id }
 *   GET  /api/profiles/ID/timeline                   TimelineDocument
 *   GET  /api/profiles/ID/columns        (Range)     tiles of all lanes
 *   GET  /api/profiles/ID/labels/PAGE                string[]: labels PAGE·LABELS_PER_PAGE …
 *   GET  /api/profiles/ID/events/LANE/INDEX          EventDocument
 *   GET  /api/profiles/ID/like?name=                 LikeDocument
 *   GET  /api/profiles/ID/search?q=                  SearchDocument
 *   GET  /api/profiles/ID/search/columns?q= (Range)  tiles of the matches, lane by lane
 *   GET  /api/profiles/ID/search/match?q=&n=         MatchDocument: the n-th in time; near=NS instead of n: the first from there
 *   GET  /api/profiles/ID/ranks                      RanksDocument
 *   GET  /api/profiles/ID/waits?from=&to=            WaitDocument[]
 *   GET  /api/profiles/ID/selection?from=&to=&track=&q=&of=&by=  SelectionDocument
 *   GET  /api/profiles/ID/selection/sql?from=&to=&track=&q=&sql=  PanelDocument: one SELECT over the selected events and the whole profile
 *   GET  /api/profiles/ID/answer?steps=              AnswerDocument
 *   GET  /api/profiles/ID/panels/ANALYSIS?steps=     PanelDocument
 *   GET  /api/profiles/ID/flame?steps=               FlameDocument: the call tree of the host
 *   GET  /api/profiles/ID/notes                      NotesDocument; PUT sends a NotesChange
 *   GET  /api/profiles/ID/page.html?from=&to=&steps=&at=&redact=  the view as one file
 *   GET  /api/profiles/ID/trace.json?from=&to=       a Chrome/Perfetto trace of the window
 *   GET  /api/profiles/ID/events.csv?from=&to=       the events of the window
 *   GET  /api/compare?a=ID&b=ID&stepA=I&stepB=J      PanelDocument: how the two steps differ
 *
 * `steps` is FIRST-LAST, positions in StepsDocument, both included; without it the steady state. Times are nanoseconds
 * on the profile's clock. Errors are ErrorDocument with a fitting status.
 */
import type { Block, TableBlock } from '../analyze/block.js';
import type { Look } from '../analyze/names-and-colors.js';

export const LABELS_PER_PAGE = 512;
/** Entries of a level that are fetched together. */
export const TILE_ENTRIES = 4096;

export interface ErrorDocument {
  /** Two lines: what happened, what to do. */
  readonly error: { readonly message: string; readonly hint: string };
}

export interface StateDocument {
  readonly version: string;
  readonly profiles: readonly ProfileState[];
  /** Ids of the two profiles to open side by side. */
  readonly compare: readonly [number, number] | null;
  /** Columns of the table `selection`, where SQL can be asked. */
  readonly sql?: readonly { readonly name: string; readonly about: string }[];
  /** The tables of the whole profile, there too: what each is about, and its columns. */
  readonly sqlTables?: readonly { readonly name: string; readonly about: string }[];
}

export interface ProfileState {
  readonly id: number;
  /** Base name of the file, or how many there are. */
  readonly name: string;
  readonly status: 'opening' | 'ready' | 'failed';
  /** What is being done, while it is opening; and how much of that, 0 to 1 (0: unknown). */
  readonly doing?: string;
  readonly done: number;
  readonly error?: ErrorDocument['error'];
  /** As given on the command line; absent where it was dropped. */
  readonly files?: readonly string[];
  readonly canRedact?: boolean;
}

export type PaletteName = 'family' | 'cause' | 'phase' | 'host' | 'rank';

export interface TimelineDocument {
  readonly startNs: number;
  readonly endNs: number;
  /** The same without empty hours before and after. */
  readonly main: { readonly startNs: number; readonly endNs: number };
  /** What was captured, in short: file, GPU, profiler … */
  readonly facts: readonly string[];
  readonly steps: StepsDocument;
  readonly groups: readonly GroupDocument[];
  readonly tracks: readonly TrackDocument[];
  readonly palettes: { readonly [Name in PaletteName]: readonly Look[] };
  /** How many labels there are. */
  readonly labels: number;
  /** Of the column bytes: this many from the start hold the overview of every lane. */
  readonly overviewBytes: number;
  readonly panels: readonly PanelSummary[];
  /** What was lost, guessed or damaged; shown, never swallowed. */
  readonly notes: readonly { readonly text: string; readonly severity: string; readonly count: number }[];
}

/** Columns, one entry per step in order of time. */
export interface StepsDocument {
  readonly length: number;
  readonly iteration: readonly number[];
  /** Index into palettes.phase. */
  readonly phase: readonly number[];
  /** The step's window on its first device; on the host where nothing ran. */
  readonly startNs: readonly number[];
  readonly endNs: readonly number[];
  /** Mean of its windows, one per rank: the time that the budget states. */
  readonly wallNs: readonly number[];
  readonly busyNs: readonly number[];
  /** -1: hidden by graph blocks, or not recorded. */
  readonly kernels: readonly number[];
  /** `32 ctx, 0 gen`; empty where the engine did not say. */
  readonly batch: readonly string[];
  /** steady, warm-up, ramp, drain, incomplete. */
  readonly state: readonly string[];
  /** marker, graph-launches or kernel-sequence; and how sure that is. */
  readonly foundBy: string;
  readonly confidence: string;
}

/** A GPU or a process: tracks stand together under it. */
export interface GroupDocument {
  readonly id: string;
  readonly label: string;
  /** The group it belongs under: the GPU of a process that has one of its own. */
  readonly under?: string;
  /** It begins folded: it has more tracks than most people want to see. */
  readonly folded?: true;
}

export interface TrackDocument {
  /** Stable over reloads: deep links, pins and filters name it. */
  readonly id: string;
  readonly group: string;
  readonly label: string;
  readonly kind: 'slices' | 'area';
  readonly palette: PaletteName;
  /** Rows of a slices track from top to bottom; an area track has one. */
  readonly lanes: readonly LaneDocument[];
  /** Folded away until asked for. */
  readonly collapsed: boolean;
  /** One slim row that stands for its group. */
  readonly isSummary?: true;
  /** Area tracks: the value at the top, and how values are written. */
  readonly highest?: number;
  readonly unit?: '%' | 'bytes' | 'Hz';
  /** Events in all lanes together. */
  readonly events: number;
  /** Indexes into the palette that occur. */
  readonly tones: readonly number[];
}

export interface LaneDocument {
  /** Number of the lane in the profile. */
  readonly id: number;
  /** From finest (every event) to coarsest. */
  readonly levels: readonly LevelDocument[];
  /** The level held in the overview bytes, and where. */
  readonly overview: { readonly level: number; readonly offset: number };
}

export interface LevelDocument {
  /** Events shorter than this were merged with their neighbours; 0: nothing was. */
  readonly bucketNs: number;
  readonly length: number;
  /** Where its first tile begins; tiles of TILE_ENTRIES follow each other. */
  readonly offset: number;
  /** Start of the first entry of each tile. */
  readonly tileStarts: readonly number[];
}

export interface PanelSummary {
  /** Id of the analysis. */
  readonly id: string;
  readonly title: string;
  readonly question: string;
}

export interface PanelDocument {
  readonly blocks: readonly Block[];
}

/** The verdict on the steps asked for. */
export interface AnswerDocument {
  /** The first line is the answer, the others say why. */
  readonly lines: readonly string[];
  /** They are about times of steps, or of the whole trace; not where no GPU work was recorded. */
  readonly hasFigures: boolean;
  /** The gain of the first finding, for example `+48% tokens/s`, and what has to happen for it. */
  readonly gain: { readonly amount: string; readonly how: string } | null;
}

/** An event with everything known about it. */
export interface EventDocument {
  readonly lane: number;
  readonly index: number;
  readonly startNs: number;
  readonly endNs: number;
  /** Short name, full name. */
  readonly title: string;
  readonly name: string;
  /** What launched it and how long it was queued come first. */
  readonly facts: readonly { readonly label: string; readonly text: string }[];
  /** Its place among events of the same name; null where it is the only one. */
  readonly company: EventCompany | null;
  /** Launch and launched, the replay and its nodes: what arrows are drawn to. */
  readonly links: readonly EventLink[];
  /** Links beyond those listed. */
  readonly moreLinks: number;
}

export interface EventCompany {
  readonly count: number;
  /** How many of them take longer. */
  readonly longer: number;
  readonly medianNs: number;
  readonly leastNs: number;
  readonly mostNs: number;
  /** How many events are in each part between the shortest and the longest, and in which it is. */
  readonly bars: readonly number[];
  readonly bar: number;
}

/** Events of one name on the GPU of a profile. */
export interface LikeDocument {
  readonly count: number;
  readonly medianNs: number;
}

export interface EventLink {
  readonly lane: number;
  readonly index: number;
  readonly startNs: number;
  readonly endNs: number;
  /** `launches`: this event caused the other; `launched-by`: the other caused this one. */
  readonly relation: 'launches' | 'launched-by';
  readonly title: string;
}

export interface SearchDocument {
  readonly query: string;
  readonly count: number;
  /** Sum of the durations. */
  readonly totalNs: number;
  readonly byTrack: readonly { readonly track: string; readonly count: number; readonly totalNs: number }[];
  /** Lanes with matches, under the ids of the lanes they are in. */
  readonly lanes: readonly LaneDocument[];
  readonly overviewBytes: number;
}

/** One collective: who came last, and how long the others waited. Times are on each rank's own clock. */
export interface WaitDocument {
  readonly lastDevice: number;
  readonly lastNs: number;
  readonly waiting: readonly { readonly device: number; readonly fromNs: number; readonly untilNs: number }[];
}

/** Rank by column; null: nothing there. */
export interface RankHeat {
  readonly id: string;
  readonly label: string;
  readonly columns: number;
  readonly values: readonly (number | null)[];
}

export interface RanksDocument {
  readonly ranks: readonly { readonly device: number; readonly label: string; readonly group: string }[];
  /** Why waits are not known; null where they are. */
  readonly problem: string | null;
  readonly bySteps: readonly RankHeat[];
  readonly byLayers: readonly RankHeat[];
}

/** Kinds of events that are not added up with each other. */
export type SelectionSection = 'gpu' | 'idle' | 'host' | 'cpu' | 'layers' | 'replays' | 'ranks' | 'steps';

export interface DurationBin {
  readonly fromNs: number;
  readonly toNs: number;
  readonly count: number;
}

/** The events of some tracks in a stretch of time, in numbers. */
export interface SelectionDocument {
  /** The kinds of events it has; the figures are about one. */
  readonly sections: readonly {
    readonly id: SelectionSection;
    readonly label: string;
    readonly count: number;
  }[];
  readonly of: SelectionSection;
  readonly fromNs: number;
  readonly toNs: number;
  readonly count: number;
  /** Sum of what lies inside the selection; events that run at once count each. */
  readonly totalNs: number;
  /** Time in which at least one of them runs. */
  readonly coveredNs: number;
  /** Of whole events. */
  readonly meanNs: number;
  /** 0 is the shortest, 100 the longest. */
  readonly percentiles: readonly { readonly percent: number; readonly ns: number }[];
  readonly bins: readonly DurationBin[];
  /** By what it can be split, and by what it is. */
  readonly dimensions: readonly { readonly id: string; readonly label: string }[];
  readonly by: string;
  readonly table: TableBlock;
}

export interface MatchDocument {
  /** Its number among the matches in order of time. */
  readonly n: number;
  readonly lane: number;
  readonly index: number;
  readonly startNs: number;
  readonly endNs: number;
}
