import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ROOT } from '../../src/base/paths/paths.ts'
import { createFile } from '../../src/libraries/edits/entries.ts'
import { createLibraryCore } from '../../src/libraries/library/core.ts'
import { createLibrary, getLibrary } from '../../src/libraries/library/libraries.ts'
import { Library } from '../../src/libraries/library/library.ts'
import { Audit } from '../../src/people/audit/audit.ts'
import { migrate } from '../../src/platform/database/migrate.ts'
import { migrations } from '../../src/platform/database/migrations/index.ts'
import { openSqlite } from '../../src/platform/database/sqlite/sqlite-database.ts'
import { libraryDependents, pathBindings } from '../../src/programs/assembly/dependents.ts'
import { at } from '../support/core.ts'
import { MemoryBlockStore } from '../support/memory-block-store.ts'

it('an edit is answered when its group is flushed, not when it is committed', async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-answers-'))
  const onFatal = (error: unknown) => assert.fail(String(error))
  let held: PromiseWithResolvers<void> | undefined
  try {
    await using db = await openSqlite({
      file: path.join(folder, 'carrel.db'),
      onFatal,
      syncLog: async () => held?.promise,
    })
    await migrate(db, migrations)
    await using core = createLibraryCore({
      audit: new Audit(db, () => 1000, -1),
      db,
      blocks: new MemoryBlockStore(),
      now: () => 1000,
      dirCacheBytes: 2 ** 20,
      defaultHistoryDays: -1,
      dependents: libraryDependents,
      pathBindings,
      onConsumerError: onFatal,
    })
    const row = await db.write((tx) =>
      tx.get<{ key: number }>(
        `insert into account (email, password_hash, role, active, created_at)
         values ('a@example.org', '', 'default', 1, 0) returning key`,
      ),
    )
    const actor = { key: row?.key ?? 0, email: 'a@example.org', epoch: 0 }
    const { id } = await createLibrary(core, actor, { name: 'Notes', description: '' }, undefined)
    const library = new Library(core, await getLibrary(core, id), actor, 'rw').editable(ROOT)
    held = Promise.withResolvers()
    let isAnswered = false
    const edit = createFile(library, at('/a.txt')).then(() => (isAnswered = true))
    while ((await getLibrary(core, id)).headSeq === library.info.headSeq) await nextTurn()
    // The commit is visible. Turns enough for an answer that does not wait for the flush.
    for (let turn = 0; turn < 50; turn += 1) await nextTurn()
    const wasAnsweredBefore = isAnswered
    held.resolve()
    held = undefined
    await edit
    assert.equal(wasAnsweredBefore, false)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
