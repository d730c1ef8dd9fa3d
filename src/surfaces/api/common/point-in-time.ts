import { parseCommitId } from '../../../base/objects/index.ts'
import type { Library } from '../../../libraries/library/index.ts'
import { rawText } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { parseTime } from './parse-values.ts'

/** Query parameters that select a state of the library: `commit_id`, or `at` a time. The default is the head. */
export const pointInTime = { commit_id: rawText(), at: rawText() }

export interface PointInTime {
  readonly commit_id: string | undefined
  readonly at: string | undefined
}

/** The library as of a point in time. Rejects a malformed commit id or time. Throws commit-not-found. */
export async function libraryAt(library: Library, { commit_id, at }: PointInTime): Promise<Library> {
  if (commit_id) {
    const id = parseCommitId(commit_id)
    if (id === undefined) throw errorMessage(400, 'commit_id invalid.')
    return id === library.info.head ? library : library.asOf(await library.history.getTreeAt(id))
  }
  if (!at) return library
  const time = parseTime(at)
  if (time === undefined) throw errorMessage(400, 'at invalid.')
  return library.asOf(await library.history.getTreeAtTime(time, at))
}
