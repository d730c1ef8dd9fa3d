import type { Safeguard } from './safeguards.ts'

const GC = 'test/gc/safeguards.test.ts'
const COLLECT = 'test/gc/collect.test.ts'
const TARGETS = 'test/backup/targets.test.ts'
const WHOLE_SERVER = 'test/backup/whole-server.test.ts'
const MIGRATION = 'test/upgrade/migration.test.ts'
const REPAIR = 'test/check/repair.test.ts'
const CHECK = 'test/check/check.test.ts'

/** The safeguards of garbage collection, backups, upgrades, checks and repairs. */
export const OPERATION_SAFEGUARDS: readonly Safeguard[] = [
  {
    invariant: 'I1',
    name: 'garbage is deleted a grace period after it was found',
    file: 'src/gc/collect-library.ts',
    find: 'Math.min(bound, now() - graceSeconds + 1)',
    replace: 'bound',
    tests: [GC],
  },
  {
    invariant: 'I1',
    name: 'garbage collection waits for operations that began before it',
    file: 'src/gc/collect-blocks.ts',
    find: 'Math.min(bound, context.now() - grace + 1)',
    replace: '(bound > 0 ? context.now() - grace + 1 : 0)',
    tests: [COLLECT],
  },
  {
    invariant: 'I1',
    name: 'an object is deleted only while it is condemned',
    file: 'src/tree/condemned-store.ts',
    find: 'locked.map(({ id }) => id),\n    )\n    for (const group of inPaddedGroups(free)) {',
    replace: 'locked.length < 0 ? [] : some,\n    )\n    for (const group of inPaddedGroups(free)) {',
    tests: [GC],
  },
  {
    invariant: 'I1',
    name: 'storing an object releases it from garbage collection',
    file: 'src/tree/object-store.ts',
    find: '    Array.from(first.values(), ({ id }) => idToBytes(id)),\n  )\n  const holding',
    replace: '    [],\n  )\n  const holding',
    tests: [GC],
  },
  {
    invariant: 'I1',
    name: 'storing a reference to a block releases it from garbage collection',
    file: 'src/content/block-rows-store.ts',
    find: '    releasing.push(releaseReferences(tx, libraryKey, idsOf(own)))',
    replace: '    void [libraryKey, own]',
    tests: [GC],
  },
  {
    invariant: 'I1',
    name: 'a base is rewritten into its differences before it is deleted',
    file: 'src/gc/collect-library.ts',
    find: '    await rewriteDependents(context, key, ids)\n',
    replace: '',
    tests: [COLLECT],
  },
  {
    invariant: 'I1',
    name: 'nothing is collected of a library with a lost commit',
    file: 'src/gc/mark.ts',
    find: 'if (missing > 0) throw',
    replace: 'if (missing < 0) throw',
    tests: [GC],
  },
  {
    invariant: 'I4',
    name: 'the manifest of a backup is written after everything it refers to',
    file: 'src/backup/create.ts',
    find: '  await repository.flush()\n',
    replace: '',
    tests: [WHOLE_SERVER],
  },
  {
    invariant: 'I4',
    name: 'pruning keeps what a remaining snapshot needs',
    file: 'src/backup/prune.ts',
    find: 'if (used === 0) {',
    replace: 'if (used < entry.size) {',
    tests: [TARGETS],
  },
  {
    invariant: 'I4',
    name: 'a target is used by one writer at a time',
    file: 'src/backup/lock.ts',
    find: 'if (entry === undefined || !excludes(mode, entry.mode)) continue',
    replace: 'if (entry === undefined || excludes(mode, entry.mode)) continue',
    tests: [TARGETS],
  },
  {
    invariant: 'I4',
    name: 'a migration begins only after a backup',
    file: 'src/database/migrate.ts',
    find: 'if (first && found > 0 && backupDirectory !== undefined) {',
    replace: 'if (first && found < 0 && backupDirectory !== undefined) {',
    tests: [MIGRATION],
  },
  {
    invariant: 'I4',
    name: 'a data folder has one server',
    file: 'src/server/data-folder-lock.ts',
    find: '; begin exclusive',
    replace: '',
    tests: ['src/server/data-folder-lock.test.ts'],
    quick: true,
  },
  {
    invariant: 'I4',
    name: 'a clock that jumped ahead deletes nothing',
    file: 'src/clock/trusted-clock.ts',
    find: 'if (jump !== undefined) throw new ClockJumped(jump)',
    replace: 'void jump',
    tests: ['test/clock/jump.test.ts'],
  },
  {
    invariant: 'I6',
    name: 'a repair stores only bytes that hash to the lost id',
    file: 'src/repair/lost-blocks.ts',
    find: 'if (row !== undefined && sha1Hex(Buffer.from(row)) === id) {',
    replace: 'if (row !== undefined) {',
    tests: [REPAIR],
  },
  {
    invariant: 'I6',
    name: 'a repair rebuilds a folder only if it hashes to the lost id',
    file: 'src/repair/rebuilt-dir.ts',
    find: 'if (dir.id === lost) return',
    replace: 'if (lost !== undefined) return',
    tests: [REPAIR],
  },
  {
    invariant: 'I6',
    name: 'a repair keeps damaged bytes in the quarantine folder',
    file: 'src/repair/lost-blocks.ts',
    find: '  await quarantineFile(id)\n',
    replace: '  void quarantineFile\n',
    tests: [REPAIR],
  },
  {
    invariant: 'I4',
    name: 'a repair adds an older folder next to the lost one, not in its place',
    file: 'src/repair/older-folder.ts',
    find: 'const name = await tree.freeWholeNameIn(parent, wanted)',
    replace: 'const name = baseName(path) || wanted',
    tests: [REPAIR],
  },
  {
    invariant: 'I6',
    name: 'a check compares the bytes of a small block with its id',
    file: 'src/content/block-check.ts',
    find: 'if (data !== undefined && sha1Hex(Buffer.from(data)) !== id) {',
    replace: 'if (data !== undefined && sha1Hex(Buffer.from(data)) === "") {',
    tests: [CHECK],
  },
]
