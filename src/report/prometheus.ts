/** Figures as Prometheus reads them (text exposition format 0.0.4): for a textfile collector or a Pushgateway. */

interface PrometheusFamily {
  readonly name: string;
  readonly help: string;
  readonly samples: readonly {
    readonly labels: Readonly<Record<string, string>>;
    readonly value: number;
  }[];
}

/** A family without samples is left out: there is no sample that says "not recorded". */
export function renderPrometheus(families: readonly PrometheusFamily[]): string {
  return families
    .filter(({ samples }) => samples.length > 0)
    .map(({ name, help, samples }) => {
      const lines = samples.map(({ labels, value }) => `${name}${labelText(labels)} ${value}`);
      return `# HELP ${name} ${help.replace(/\\/g, '\\\\').replace(/\n/g, '\\n')}\n# TYPE ${name} gauge\n${lines.join('\n')}\n`;
    })
    .join('');
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const written = Object.entries(labels).map(
    ([label, text]) => `${label}="${text.replace(/\\/g, '\\\\').replace(/\n/g, '\\n').replace(/"/g, '\\"')}"`,
  );
  return written.length > 0 ? `{${written.join(',')}}` : '';
}
