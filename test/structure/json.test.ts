import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { it } from 'node:test'

const src = path.join(import.meta.dirname, '../../src')

/** Files that parse JSON nobody outside has written, and why it is so. */
const OWN_JSON: Readonly<Record<string, string>> = {
  'access/link-mails.ts': 'what a row of the outbox was written with',
  'activity/credential-notifier.ts': 'what a row of the outbox was written with',
  'identity/account-tokens.ts': 'what a row of the outbox was written with',
  'json.ts': 'the parser with limits itself',
  'access/link-store.ts': 'a column we wrote',
  'activity/live-event-store.ts': 'a column we wrote',
  'activity/notification-store.ts': 'a column we wrote',
  'api/activity/webhook-wire.ts': 'a column we wrote',
  'audit/audit-store.ts': 'a column we wrote',
  'database/migrations/0013-sign-in.ts': 'a column we wrote',
  'backup/own-json.ts': 'objects of a backup, which are hashed or authenticated',
  'check/check-store.ts': 'a column we wrote',
  'check/progress-store.ts': 'a column we wrote',
  'config/sources.ts': 'a file of the operator',
  'identity/device-authorization-store.ts': 'a column we wrote',
  'identity/password-attempt-store.ts': 'a column we wrote',
  'content/sealed-key.ts': 'a key we sealed, read once it is authenticated',
  'jobs/copy-move-task-store.ts': 'a column we wrote',
  'archives/archive-store.ts': 'a column we wrote',
  'library/lock-store.ts': 'a column we wrote',
  'library/property-store.ts': 'a column we wrote',
  'logging.ts': 'lines we wrote',
  'cluster/node-store.ts': 'counts that another node wrote',
  'data-folder/data-folder-lock.ts': 'a file we wrote',
  'sync/notification-tokens.ts': 'claims we signed, read once the signature is checked',
  'version.ts': 'a file of the program',
  'workers/runtime/serve-worker.ts': 'messages of the server to its worker process',
  'workers/sandbox.ts': 'the input of the first program of a worker process',
}

it('JSON from outside is parsed by one function, which bounds its depth and size', () => {
  const files = globSync('**/*.ts', { cwd: src }).filter(
    (file) => !/\.(?:test|fixture)\.ts$|test-support/.test(file),
  )
  const parsing = files.filter((file) =>
    /\bJSON\s*\.\s*parse\b/.test(readFileSync(path.join(src, file), 'utf8')),
  )
  assert.deepEqual(
    parsing.filter((file) => OWN_JSON[file] === undefined),
    [],
    'use parseOutsideJson of src/json.ts, or say in this list where the JSON comes from',
  )
  assert.deepEqual(
    Object.keys(OWN_JSON).filter((file) => !parsing.includes(file)),
    [],
    'these parse none any more',
  )
})

it('every inflation in this process has a bound, or is of bytes that were bounded when they came in', () => {
  const bounded: Readonly<Record<string, string>> = {
    'backup/compression.ts': 'maxOutputLength',
    'client/zip-files.ts': 'maxOutputLength',
    'database/postgres/dump.ts': 'a file we wrote, read as a stream',
    'extraction/zip-archive.ts': 'maxOutputLength',
    'import/mysql-dump.ts': 'a dump that the operator made, read as a stream',
    'import/seafile-objects.ts': 'maxOutputLength',
    'pages/web-app.ts': 'files of our own package',
    'push/object-parser.ts': 'maxOutputLength',
    'tree/inspection-store.ts': 'what object-parser.ts accepted',
    'tree/object-store.ts': 'what object-parser.ts accepted',
    'tree/walk-store.ts': 'what object-parser.ts accepted',
    'search/indexed-text.ts': 'texts we packed',
  }
  const files = globSync('**/*.ts', { cwd: src }).filter((file) => !file.endsWith('.test.ts'))
  const inflating = files.filter((file) =>
    /\b(?:inflate|gunzip|unzip|brotliDecompress|zstdDecompress|createInflate|createGunzip|createUnzip)\w*\b.*from 'node:zlib'/.test(
      readFileSync(path.join(src, file), 'utf8'),
    ),
  )
  assert.deepEqual(inflating.toSorted(), Object.keys(bounded).toSorted())
  for (const [file, reason] of Object.entries(bounded)) {
    if (reason !== 'maxOutputLength') continue
    assert.match(readFileSync(path.join(src, file), 'utf8'), /maxOutputLength/)
  }
})
