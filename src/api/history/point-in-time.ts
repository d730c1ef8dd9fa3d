import { errorMessage, rawText } from '../../http/index.ts'
import type { Library } from '../../library/index.ts'
import { parseCommitId } from '../../objects/index.ts'
import { parseTime } from '../common/parse-time.ts'
import type { ApiServices } from '../services.ts'

/** Readers of a state of the library to look at: `commit_id`, or `at` a time; the head if neither was sent. */
export const moment = { commit_id: rawText(), at: rawText() }

export interface Moment {
  readonly commit_id: string | undefined
  readonly at: string | undefined
}

/** The library as it was at a moment. Refuses what is no commit id or time; throws commit-not-found. */
export async function asOf(
  { core }: ApiServices,
  library: Library,
  { commit_id, at }: Moment,
): Promise<Library> {
  if (commit_id) {
    const id = parseCommitId(commit_id)
    if (id === undefined) throw errorMessage(400, 'commit_id invalid.')
    return id === library.info.head ? library : library.asOf(await core.history.getTreeAt(library.info, id))
  }
  if (!at) return library
  const time = parseTime(at)
  if (time === undefined) throw errorMessage(400, 'at invalid.')
  return library.asOf(await core.history.getTreeAtTime(library.info, time, at))
}
