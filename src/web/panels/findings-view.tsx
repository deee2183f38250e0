/** Findings as cards: the claim with cost and gain; opened, what it rests on, what to do, and how to make sure. */
import { useEffect } from 'preact/hooks';
import type { FindingsBlock } from '../../analyze/block.js';
import { evidenceText } from '../../analyze/findings/evidence-text.js';
import type { Finding } from '../../analyze/findings/finding.js';
import { formatThroughput, ofStep, perStep } from '../../analyze/words.js';
import { formatDuration, formatShare, plural } from '../../base/units.js';
import type { StepSpan } from '../../timeline/spans.js';
import { commandFor } from '../command-files.js';
import { findingKey, hideEvidence, showEvidence, showNamed } from '../evidence.js';
import { evidencePlaces, isSomewhere } from '../evidence-places.js';
import { inSelection } from '../selection-words.js';
import { openFinding, type Pane } from '../state.js';
import { Command, ShellText } from './command.js';

interface FindingsProps {
  readonly block: FindingsBlock;
  readonly pane: Pane;
  /** What they are about; null: the steady state. */
  readonly steps: StepSpan | null;
}

export function FindingsView({ block, pane, steps }: FindingsProps) {
  const { findings, more, unmeasured } = block;
  const words = inSelection(steps);
  const open = openFinding.value;
  useEffect(() => {
    // An address can name the finding that is open, as Back does; where to look is in the address too.
    const named = findings.find(finding => findingKey(finding) === open);
    if (named) showNamed(pane, named);
  }, [findings, open]);
  return (
    <section class="block">
      <h3 class="unseen">{block.title}</h3>
      {findings.length === 0 && (
        <p class="nothing">
          <b>No bottleneck was found.</b>
          <span class="muted">The budget and the kernels show where the time goes.</span>
        </p>
      )}
      <ol class="cards">
        {findings.map(finding => (
          <Card key={findingKey(finding)} finding={finding} pane={pane} words={words} />
        ))}
      </ol>
      {more > 0 && <p class="muted">{plural(more, 'more finding')}.</p>}
      {unmeasured.length > 0 && (
        <details class="unmeasured">
          <summary>{plural(unmeasured.length, 'rule')} could not be checked</summary>
          <ul class="plain">
            {unmeasured.map(({ rule, what, hint }) => (
              <li key={rule}>
                {what}{' '}
                <span class="hint">
                  → <ShellText text={hint} />
                </span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

/** A smaller gain would be shown as 0.0%. */
const LEAST_GAIN = 0.0005;

interface CardProps {
  readonly finding: Finding;
  readonly pane: Pane;
  /** Texts in the words of the selection. */
  readonly words: (text: string) => string;
}

function Card({ finding, pane, words }: CardProps) {
  const isOpen = openFinding.value === findingKey(finding);
  const { claim, severity, phase, costNs, costShare, confidence, gain } = finding;
  const figures = [
    phase !== 'unknown' && phase,
    costNs !== null && words(`${formatDuration(costNs)} ${perStep(phase)}`),
    costShare !== null && words(`${formatShare(costShare)} ${ofStep(phase)}`),
    confidence,
  ].filter(Boolean);
  return (
    <li class={`card ${severity}`}>
      <button
        type="button"
        class="card-head"
        aria-expanded={isOpen}
        onClick={() => {
          if (isOpen) hideEvidence(pane);
          else showEvidence(pane, finding);
        }}
      >
        <span class="claim">{words(claim)}</span>
        {gain && gain.throughput >= LEAST_GAIN && (
          <span class="gain" title={gain.how}>
            {formatThroughput(gain.throughput)}
          </span>
        )}
        <span class="figures">
          <span class="unseen">{severity}: </span>
          {figures.join(' · ')}
        </span>
      </button>
      {isOpen && <Opened finding={finding} pane={pane} words={words} />}
    </li>
  );
}

function Opened({ finding, pane, words }: CardProps) {
  const { evidence, advice, confirm, gain } = finding;
  return (
    <div class="card-body">
      {gain && (
        <p class="muted">
          {finding.phase === null ? 'The run' : words('A step')} would be {formatDuration(gain.nsPerStep)}{' '}
          shorter: {gain.how}.
        </p>
      )}
      <h4>Evidence</h4>
      <ul>
        {evidence.map(item => (
          <li key={item.text}>
            <ShellText text={words(evidenceText(item))} />
          </li>
        ))}
      </ul>
      {advice.length > 0 && <h4>What to do</h4>}
      <ul>
        {advice.map(({ engine, text }) => (
          <li key={`${engine}/${text}`}>
            {engine !== 'any' && <b>{engine} </b>}
            <ShellText text={commandFor(pane, text).shown} />
          </li>
        ))}
      </ul>
      {confirm !== '' && (
        <>
          <h4>Confirm</h4>
          <Command {...commandFor(pane, confirm)} />
        </>
      )}
      {isSomewhere(evidencePlaces(finding, pane.document)) && (
        <button type="button" class="small" onClick={() => showEvidence(pane, finding)}>
          Show in timeline
        </button>
      )}
    </div>
  );
}
