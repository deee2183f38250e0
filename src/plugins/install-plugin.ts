/** Puts the parts of a plugin into the registries. Whatever one of them throws is named, and stays with it. */
import { type AnyAnalysis, NotRecorded } from '../analyze/analysis.js';
import { addRule } from '../analyze/findings/findings.js';
import type { Rule } from '../analyze/findings/rule.js';
import { addAnalysis, analyses } from '../analyze/index.js';
import { UserError } from '../base/user-error.js';
import { addMarker, type MarkerGrammar } from '../catalog/engine-markers.js';
import { isFamilyId } from '../catalog/kernels/families.js';
import type { KernelRule } from '../catalog/kernels/rule.js';
import { addKernelRules } from '../catalog/kernels/rules.js';
import type { Importer } from '../import/importer.js';
import { addImporter, importers } from '../import/index.js';
import type { Plugin, PluginFailed } from './plugin.js';

const parts = ['name', 'analyses', 'findings', 'kernelRules', 'importers', 'markers'];
const ID = /^[a-z][a-z0-9-]{1,60}$/;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `from`: what the plugin is called where it has no name. */
let installed = 0;

/** What runs elsewhere, in another thread, does not have them. */
export const hasPlugins = (): boolean => installed > 0;

export function installPlugin(given: unknown, from: string, failed: PluginFailed): void {
  installed++;
  if (!isObject(given))
    throw new Error('its default export is neither a plugin nor a function that returns one');
  const unknown = Object.keys(given).find(key => !parts.includes(key));
  if (unknown !== undefined)
    throw new Error(`it has an unknown part ${JSON.stringify(unknown)}; parts: ${parts.join(', ')}`);
  for (const part of parts.slice(1))
    if (given[part] !== undefined && !Array.isArray(given[part])) throw new Error(`${part} is not a list`);
  const plugin = given as unknown as Plugin;
  const name = typeof plugin.name === 'string' && plugin.name !== '' ? plugin.name : from;
  /** Each part by itself: a wrong one does not keep the others out. */
  const each = <Part>(kind: string, all: readonly Part[] = [], add: (part: Part) => void) => {
    for (const part of all)
      try {
        add(part);
      } catch (error) {
        failed(name, `${kind} ${String((part as { id?: unknown } | undefined)?.id ?? '')}`.trim(), error);
      }
  };
  each('analysis', plugin.analyses, analysis =>
    addAnalysis(containedAnalysis(checkedAnalysis(analysis), name, failed)),
  );
  each('finding', plugin.findings, rule => addRule(containedRule(checkedRule(rule), name, failed)));
  each('importer', plugin.importers, importer =>
    addImporter(containedImporter(checkedImporter(importer), name, failed)),
  );
  each('marker', plugin.markers, marker =>
    addMarker(containedMarker(checkedMarker(marker, name), name, failed)),
  );
  each('kernel rule', plugin.kernelRules, rule => addKernelRules([checkedKernelRule(rule, name)]));
}

function requireId(id: unknown, taken: readonly { readonly id: string }[]): void {
  if (typeof id !== 'string' || !ID.test(id)) throw new Error('its id is not of the form my-analysis');
  if (taken.some(known => known.id === id)) throw new Error('its id is taken');
}

const requireFunction = (value: unknown, name: string) => {
  if (typeof value !== 'function') throw new Error(`it has no function ${name}`);
};

function checkedAnalysis(analysis: AnyAnalysis): AnyAnalysis {
  requireId(analysis?.id, analyses);
  requireFunction(analysis.compute, 'compute');
  if (!isObject(analysis.fields) || !isObject(analysis.fields.key)) throw new Error('its fields have no key');
  return {
    ...analysis,
    title: analysis.title ?? analysis.id,
    question: analysis.question ?? '',
    reads: analysis.reads ?? {},
    uses: analysis.uses ?? [],
  };
}

function containedAnalysis(analysis: AnyAnalysis, plugin: string, failed: PluginFailed): AnyAnalysis {
  const describe = analysis.describe?.bind(analysis);
  const contained: AnyAnalysis = {
    ...analysis,
    compute(input) {
      try {
        return analysis.compute(input);
      } catch (error) {
        if (error instanceof NotRecorded || error instanceof UserError) throw error;
        failed(plugin, `analysis ${analysis.id}`, error);
        throw new Error(`plugin ${plugin}: ${(error as Error)?.message ?? error}`);
      }
    },
  };
  if (!describe) return contained;
  return {
    ...contained,
    describe(result, profile) {
      try {
        return describe(result, profile);
      } catch (error) {
        failed(plugin, `words of analysis ${analysis.id}`, error);
        return [];
      }
    },
  };
}

function checkedRule(rule: Rule): Rule {
  if (typeof rule?.id !== 'string' || !ID.test(rule.id))
    throw new Error('its id is not of the form my-finding');
  requireFunction(rule.look, 'look');
  return { ...rule, about: rule.about ?? rule.id, uses: rule.uses ?? [] };
}

const containedRule = (rule: Rule, plugin: string, failed: PluginFailed): Rule => ({
  ...rule,
  look(input) {
    try {
      return rule.look(input);
    } catch (error) {
      if (error instanceof NotRecorded) throw error;
      failed(plugin, `finding ${rule.id}`, error);
      return [];
    }
  },
});

function checkedImporter(importer: Importer): Importer {
  requireId(importer?.id, importers);
  requireFunction(importer.recognizes, 'recognizes');
  requireFunction(importer.import, 'import');
  return { ...importer, label: importer.label ?? importer.id, endings: importer.endings ?? [] };
}

const containedImporter = (importer: Importer, plugin: string, failed: PluginFailed): Importer => ({
  ...importer,
  recognizes(head) {
    try {
      return importer.recognizes(head) === true;
    } catch (error) {
      failed(plugin, `importer ${importer.id}`, error);
      return false;
    }
  },
  async import(file, context) {
    try {
      return await importer.import(file, context);
    } catch (error) {
      if (error instanceof UserError) throw error;
      throw new UserError(
        'unreadable',
        `${file.name}: importer ${importer.id} of plugin ${plugin} failed: ${(error as Error)?.message ?? error}`,
        'Correct the plugin, or leave it out.',
      );
    }
  },
});

function checkedMarker(marker: MarkerGrammar, plugin: string): MarkerGrammar {
  if (!(marker?.pattern instanceof RegExp)) throw new Error('its pattern is not a regular expression');
  return { ...marker, engine: marker.engine ?? plugin, source: marker.source ?? `plugin ${plugin}` };
}

function containedMarker(marker: MarkerGrammar, plugin: string, failed: PluginFailed): MarkerGrammar {
  const read = marker.read;
  if (!read) return marker;
  return {
    ...marker,
    read(groups) {
      try {
        return read(groups);
      } catch (error) {
        failed(plugin, `marker ${marker.pattern}`, error);
        return { phase: 'unknown' };
      }
    },
  };
}

function checkedKernelRule(rule: KernelRule, plugin: string): KernelRule {
  if (!(rule?.pattern instanceof RegExp)) throw new Error('its pattern is not a regular expression');
  if (!isFamilyId(rule.family)) throw new Error(`there is no family ${JSON.stringify(rule.family)}`);
  return { ...rule, id: rule.id ?? `${plugin}-rule`, source: rule.source ?? `plugin ${plugin}` };
}
