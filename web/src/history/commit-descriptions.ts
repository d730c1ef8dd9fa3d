import type { Texts } from '../texts/index.ts'

type HistoryTexts = Texts['history']

/** Prefixes of commit descriptions, which are always in English, and the verbs to show. */
const verbs: readonly [start: string, verb: keyof HistoryTexts['did']][] = [
  ['Added or modified', 'changed'],
  ['Added directory', 'addedFolder'],
  ['Added', 'added'],
  ['Modified', 'modified'],
  ['Removed directory', 'deletedFolder'],
  ['Deleted', 'deleted'],
  ['Renamed directory', 'renamedFolder'],
  ['Renamed', 'renamed'],
  ['Moved directory', 'movedFolder'],
  ['Moved', 'moved'],
  ['Recovered deleted directory', 'restoredFolder'],
  ['Recovered', 'restored'],
  ['Reverted file', 'restored'],
  ['Reverted directory', 'restoredFolder'],
]

/** A translated line of a commit description. `name` is separate, so that it can be styled. */
interface Described {
  readonly before: string
  readonly name?: string
  readonly after?: string
}

export function describeCommit(texts: HistoryTexts, description: string): Described[] {
  const lines = description.split('\n').filter((line) => line.trim() !== '')
  return lines.length === 0 ? [{ before: texts.noDescription }] : lines.map((line) => lineIn(texts, line))
}

function lineIn(texts: HistoryTexts, line: string): Described {
  const fixed: Record<string, string> = {
    'Created library': texts.createdLibrary,
    'Changed library password': texts.changedPassword,
    'Changed library name or description': texts.changedName,
    'Auto merge by system': texts.merged,
  }
  const known = fixed[line.trim()]
  if (known !== undefined) return { before: known }
  if (/^Reverted (?:library|repo) to status at /.test(line)) return { before: texts.revertedLibrary }
  const [, start, name, count] =
    /^([A-Za-z ]+?) "(.*)"(?: and (\d+) more (?:files|directories))?(?: to status at .*)?\.?$/.exec(
      line.trim(),
    ) ?? []
  const verb = verbs.find(([text]) => text === start)?.[1]
  if (verb === undefined || name === undefined) return { before: line }
  const more = count === undefined ? undefined : texts.andMore(Number(count))
  return { before: texts.did[verb], name, ...(more !== undefined && { after: more }) }
}
