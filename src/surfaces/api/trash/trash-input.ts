import type { CommitRange } from '../../../libraries/history/index.ts'
import { accepting, map, type Reader, rawText, refuse, required } from '../../../platform/input/index.ts'
import { parseText } from '../common/parse-values.ts'

/** A part of a name; undefined if nothing was sent. */
export const trashName: Reader<string | undefined> = (fields, name) => {
  const sent = rawText()(fields, name)
  if (sent !== undefined && parseText(sent) === undefined) refuse(name)
  return sent?.trim() || undefined
}

/** What a list of actions called an action. */
export const sentAction: Reader<CommitRange> = accepting(
  { type: 'string', required: true, pattern: '^\\d{1,15}-\\d{1,15}$' },
  map(required(), parseAction),
)

function parseAction(text: string): CommitRange | undefined {
  const [, first, last] = /^(\d{1,15})-(\d{1,15})$/.exec(text) ?? []
  return first === undefined ? undefined : { firstSeq: Number(first), lastSeq: Number(last) }
}
