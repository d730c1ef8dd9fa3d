import type { Texts } from '../texts/index.ts'

type SentenceName = keyof Texts['history']['sentences']

/** Prefixes of commit descriptions, which are always in English, and the sentences to show. */
const sentences: readonly [start: string, sentence: SentenceName][] = [
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

const fixed: Readonly<Record<string, SentenceName>> = {
  'Created library': 'createdLibrary',
  'Changed library password': 'changedPassword',
  'Changed library name or description': 'changedName',
  'Auto merge by system': 'merged',
}

/** The sentences that also say where to, once it is known. */
const withTarget: Readonly<Partial<Record<SentenceName, SentenceName>>> = {
  renamed: 'renamedTo',
  renamedFolder: 'renamedFolderTo',
  moved: 'movedTo',
  movedFolder: 'movedFolderTo',
}

/** One line of a commit description: a sentence with the name in it. */
export interface Described {
  readonly sentence: SentenceName
  readonly name?: string
  /** Further entries that the line does not name. */
  readonly more?: number
}

export function describeCommit(description: string): Described[] {
  const lines = description.split('\n').filter((line) => line.trim() !== '')
  return lines.length === 0 ? [{ sentence: 'changedLibrary' }] : lines.map(describeLine)
}

/** Whether the new name or folder would complete the description. */
export function lacksTarget(described: readonly Described[]): boolean {
  const [only, ...others] = described
  return (
    only !== undefined &&
    others.length === 0 &&
    only.more === undefined &&
    withTarget[only.sentence] !== undefined
  )
}

/** The sentence for a known target. */
export const targetSentence = (sentence: SentenceName): SentenceName => withTarget[sentence] ?? sentence

function describeLine(line: string): Described {
  const known = fixed[line.trim()]
  if (known !== undefined) return { sentence: known }
  if (/^Reverted (?:library|repo) to status at /.test(line)) return { sentence: 'revertedLibrary' }
  const [, start, name, count] =
    /^([A-Za-z ]+?) "(.*)"(?: and (\d+) more (?:files|directories))?(?: to status at .*)?\.?$/.exec(
      line.trim(),
    ) ?? []
  const sentence = sentences.find(([text]) => text === start)?.[1]
  if (sentence === undefined || name === undefined) return { sentence: 'other', name: line }
  return { sentence, name, ...(count !== undefined && { more: Number(count) }) }
}
