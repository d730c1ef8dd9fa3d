import type { CommitRange } from '../../../libraries/history/index.ts'
import { accepting, map, type Reader, rawText, refuse, required } from '../../../platform/input/index.ts'

/** The same limit as in batch calls. */
export const RESTORE_BODY_BYTES = 8 * 2 ** 20

/** A part of a name; undefined if nothing was sent. */
export const trashName: Reader<string | undefined> = (fields, name) => {
  const sent = rawText()(fields, name)
  if (sent !== undefined && !isStorable(sent)) refuse(name)
  return sent?.trim() || undefined
}

/** What a list of actions called an action. */
export const sentAction: Reader<CommitRange> = accepting(
  { type: 'string', required: true, pattern: '^\\d{1,15}-\\d{1,15}$' },
  map(required(), parseAction),
)

export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

function parseAction(text: string): CommitRange | undefined {
  const [, first, last] = /^(\d{1,15})-(\d{1,15})$/.exec(text) ?? []
  return first === undefined ? undefined : { firstSeq: Number(first), lastSeq: Number(last) }
}
