import type { Safeguard } from './safeguards.ts'

const NODES = 'test/cluster/nodes.test.ts'
const LOCK_RACE = 'test/cluster/lock-race.test.ts'
const CLAIMS = 'test/cluster/claims.test.ts'
const LOST_COMMITS = 'test/cluster/postgres-lost-commits.test.ts'
const S3_STORE = 'test/storage/s3-block-store.test.ts'
const WRITE_LOCK = 'src/platform/database/sqlite/write-lock.test.ts'
const SUPERVISOR = 'src/platform/processes/supervisor.test.ts'
const S3_SOURCE = 'src/platform/storage/s3/s3-block-store.ts'

/** The safeguards of several nodes and processes, of PostgreSQL that fails, and of blocks in S3. */
export const CLUSTER_SAFEGUARDS: readonly Safeguard[] = [
  {
    invariant: 'I4',
    name: 'a commit whose response was lost is looked up',
    file: 'src/platform/database/postgres/postgres-database.ts',
    find: 'if (receiptId === undefined) throw uncertain',
    replace: 'if (receiptId !== undefined) throw uncertain',
    tests: [LOST_COMMITS],
  },
  {
    invariant: 'I4',
    name: 'work is run again only if its commit was not carried out',
    file: 'src/platform/database/postgres/postgres-database.ts',
    find: "if (tables !== '') return tx.confirm()",
    replace: "if (tables === '') return tx.confirm()",
    tests: [LOST_COMMITS],
  },
  {
    invariant: 'I4',
    name: 'a transaction leaves a receipt',
    file: 'src/platform/database/postgres/receipts.ts',
    find: "const values = [id, tables === undefined ? ANY : [...tables].join(',')]",
    replace: "const values = [id + 1, tables === undefined ? ANY : [...tables].join(',')]",
    tests: [LOST_COMMITS],
  },
  {
    invariant: 'I5',
    name: 'a lease of a live node is not given to another',
    file: 'src/platform/cluster/node-store.ts',
    find: 'or cluster_lease.node_id not in ${liveNodeRelation(dialect)}`',
    replace: 'or 1 = 1`',
    tests: [NODES],
  },
  {
    invariant: 'I5',
    name: 'nodes that write to one library take turns after a conflict',
    file: 'src/libraries/commits/group-commit.ts',
    find: 'return db.withMutex(library.key, async () => {',
    replace:
      'return (async (_: number, work: () => Promise<LibraryInfo>) => work())(library.key, async () => {',
    tests: [CLAIMS],
  },
  {
    invariant: 'I5',
    name: 'the locks of a library are granted one at a time',
    file: 'src/libraries/library/lock-store.ts',
    find: "if (dialect !== 'postgres') return",
    replace: "if (dialect === 'postgres') return",
    tests: [LOCK_RACE],
  },
  {
    invariant: 'I5',
    name: 'a step of a task needs its claim',
    file: 'src/maintenance/jobs/copy-move-task-store.ts',
    find: "set done = ?, updated_at = ? where id = ? and claim = ? and state = 'running'`",
    replace: "set done = ?, updated_at = ? where id = ? and (claim = ? or 1 = 1) and state = 'running'`",
    tests: [CLAIMS],
  },
  {
    invariant: 'I5',
    name: 'a task of a live node is not claimed by another',
    file: 'src/maintenance/jobs/copy-move-task-store.ts',
    find: 'and (node_id is null or node_id = ? or node_id not in ${liveNodeRelation(dialect)})`,\n    claim,',
    replace: 'and (node_id is null or node_id = ? or 1 = 1)`,\n    claim,',
    tests: [CLAIMS],
  },
  {
    invariant: 'I5',
    name: 'an archive is finished only under its claim',
    file: 'src/libraries/archives/archive-store.ts',
    find: "sealed_key = null\n     where id = ? and claim = ? and state = 'running'`,\n    size,",
    replace: 'sealed_key = null\n     where id = ? and (claim = ? or 1 = 1)`,\n    size,',
    tests: [CLAIMS],
  },
  {
    invariant: 'I4',
    name: 'a chunk is added only to the state it was cut for',
    file: 'src/sharing/quotas/partial-upload-store.ts',
    find: 'where key = ? and version = ?`,\n    received,',
    replace: 'where key = ? and (version = ? or 1 = 1)`,\n    received,',
    tests: ['test/transfer/resumable-nodes.test.ts'],
  },
  {
    invariant: 'I1',
    name: 'an upload to S3 has a row before its PUT',
    file: S3_SOURCE,
    find: '        await insertUpload(this.#writable(), object, this.#now())\n        const open = () => (size === 0 ? Buffer.alloc(0) : this.#cache.read(id))\n        await this.#putObject(object, { size, sha256, open })',
    replace:
      '        const open = () => (size === 0 ? Buffer.alloc(0) : this.#cache.read(id))\n        await this.#putObject(object, { size, sha256, open })\n        await insertUpload(this.#writable(), object, this.#now())',
    tests: [S3_STORE],
  },
  {
    invariant: 'I1',
    name: 'every upload to S3 has an object of its own',
    file: S3_SOURCE,
    find: 'const object = { id, generation: randomBytes(GENERATION_BYTES), size }',
    replace: 'const object = { id, generation: Buffer.alloc(GENERATION_BYTES), size }',
    tests: [S3_STORE],
  },
  {
    invariant: 'I4',
    name: 'an upload to S3 that was given up is not acknowledged',
    file: S3_SOURCE,
    find: 'if (await this.#writable().write((tx) => setStored(tx, object, this.#now()))) return',
    replace:
      'if ((await this.#writable().write((tx) => setStored(tx, object, this.#now()))) !== undefined) return',
    tests: [S3_STORE],
  },
  {
    invariant: 'I6',
    name: 'wrong bytes from S3 are fetched again, then reported',
    file: S3_SOURCE,
    find: 'if (received.includes(error.actual))',
    replace: 'if (received.length === 0)',
    tests: [S3_STORE],
  },
  {
    invariant: 'I4',
    name: 'what another process committed is flushed before it is acknowledged',
    file: 'src/platform/database/sqlite/sqlite-database.ts',
    find: 'if (this.isShared) this.#reads.holdValidated()',
    replace: 'if (this.isShared) this.#reads.hold()',
    tests: [WRITE_LOCK],
  },
  {
    invariant: 'I5',
    name: 'the locks of a dead process are released',
    file: 'src/platform/processes/supervisor.ts',
    find: 'this.#locks.releaseAll(worker)',
    replace: '',
    tests: [SUPERVISOR],
  },
  {
    invariant: 'I5',
    name: 'a process that does not respond is replaced',
    file: 'src/platform/processes/supervisor.ts',
    find: "      worker.child.kill('SIGKILL')\n    }",
    replace: '    }',
    tests: [SUPERVISOR],
  },
  {
    invariant: 'I5',
    name: 'connections that a dead process did not accept are sent to another',
    file: 'src/platform/processes/connection-dispatcher.ts',
    find: 'if (this.#isStopped) for',
    replace: 'if (!this.#isStopped) for',
    tests: [SUPERVISOR],
  },
  {
    invariant: 'I9',
    name: 'connections that wait for a process are limited',
    file: 'src/platform/processes/connection-dispatcher.ts',
    find: 'for (const socket of this.#waiting.splice(maxWaiting)) socket.destroy()',
    replace: 'void maxWaiting',
    tests: [SUPERVISOR],
  },
]
