import { type AuditActor, libraryAction } from '../../people/audit/index.ts'
import { commitRows } from '../commits/index.ts'
import { daysAgo } from '../history/index.ts'
import { libraryHeads } from '../registry/index.ts'
import { dbOf, type LibraryCore } from './core.ts'
import type { Library } from './library.ts'

/**
 * Hides history and trash up to the head (0 days), or everything older than `days`. Never unhides. Audited if something was
 * hidden.
 */
export async function emptyTrash(
  core: LibraryCore,
  { info: library, actor }: Pick<Library, 'info' | 'actor'>,
  days: number,
  by: AuditActor | undefined,
): Promise<void> {
  const seq =
    days <= 0 ? library.headSeq : await commitRows.seqAtTime(dbOf(core), library.key, daysAgo(core, days))
  await dbOf(core).write(async (tx) => {
    const isRaised = await libraryHeads.raiseValidSince(tx, library.key, seq)
    await core.events.record(tx, { kind: 'trash-emptied', library, actor, days })
    if (isRaised) await core.audit.record(tx, by, libraryAction('trash-cleaned', library, { keptDays: days }))
  })
}
