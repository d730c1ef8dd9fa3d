import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { it } from 'node:test'

const src = path.join(import.meta.dirname, '../../src')

/** Files that parse JSON nobody outside has written, and why it is so. */
const OWN_JSON: Readonly<Record<string, string>> = {
  'sharing/access/link-mails.ts': 'what a row of the outbox was written with',
  'derived/activity/credential-notifier.ts': 'what a row of the outbox was written with',
  'people/credentials/account-tokens.ts': 'what a row of the outbox was written with',
  'base/json.ts': 'the parser with limits itself',
  'sharing/access/link-store.ts': 'a column we wrote',
  'sharing/access/ticket-store.ts': 'a column we wrote',
  'derived/activity/live-event-store.ts': 'a column we wrote',
  'derived/activity/notification-store.ts': 'a column we wrote',
  'surfaces/api/activity/webhooks-v21.ts': 'a column we wrote',
  'people/audit/audit-store.ts': 'a column we wrote',
  'platform/database/migrations/0013-sign-in.ts': 'a column we wrote',
  'maintenance/backup/own-json.ts': 'objects of a backup, which are hashed or authenticated',
  'maintenance/check/check-store.ts': 'a column we wrote',
  'maintenance/check/progress-store.ts': 'a column we wrote',
  'base/config/sources.ts': 'a file of the operator',
  'people/credentials/device-authorization-store.ts': 'a column we wrote',
  'people/passwords/password-attempt-store.ts': 'a column we wrote',
  'libraries/content/sealed-key.ts': 'a key we sealed, read once it is authenticated',
  'maintenance/jobs/copy-move-task-store.ts': 'a column we wrote',
  'libraries/archives/archive-store.ts': 'a column we wrote',
  'libraries/library/lock-store.ts': 'a column we wrote',
  'libraries/attributes/property-store.ts': 'a column we wrote',
  'base/logging.ts': 'lines we wrote',
  'platform/cluster/node-store.ts': 'counts that another node wrote',
  'platform/data-folder/data-folder-lock.ts': 'a file we wrote',
  'surfaces/sync/notification-tokens.ts': 'claims we signed, read once the signature is checked',
  'base/version.ts': 'a file of the program',
  'platform/workers/runtime/serve-worker.ts': 'messages of the server to its worker process',
  'platform/workers/sandbox.ts': 'the input of the first program of a worker process',
}

it('JSON from outside is parsed by one function, which bounds its depth and size', () => {
  const files = globSync(['**/*.ts', '../packages/**/*.ts'], { cwd: src }).filter(
    (file) => !file.endsWith('.test.ts'),
  )
  const parsing = files.filter((file) =>
    /\bJSON\s*\.\s*parse\b/.test(readFileSync(path.join(src, file), 'utf8')),
  )
  assert.deepEqual(
    parsing.filter((file) => OWN_JSON[file] === undefined),
    [],
    'use parseOutsideJson of src/base/json.ts, or say in this list where the JSON comes from',
  )
  assert.deepEqual(
    Object.keys(OWN_JSON).filter((file) => !parsing.includes(file)),
    [],
    'these parse none any more',
  )
})

it('every inflation in this process has a bound, or is of bytes that were bounded when they came in', () => {
  const bounded: Readonly<Record<string, string>> = {
    'maintenance/backup/compression.ts': 'maxOutputLength',
    'platform/database/postgres/dump.ts': 'a file we wrote, read as a stream',
    'platform/extraction/zip-archive.ts': 'maxOutputLength',
    'maintenance/import/mysql-dump.ts': 'a dump that the operator made, read as a stream',
    'maintenance/import/seafile-objects.ts': 'maxOutputLength',
    'surfaces/pages/web-app.ts': 'files of our own package',
    'libraries/push/object-parser.ts': 'maxOutputLength',
    'libraries/tree/inspection-store.ts': 'what object-parser.ts accepted',
    'libraries/tree/object-store.ts': 'what object-parser.ts accepted',
    'libraries/tree/walk-store.ts': 'what object-parser.ts accepted',
    'derived/search/indexed-text.ts': 'texts we packed',
  }
  const files = globSync(['**/*.ts', '../packages/**/*.ts'], { cwd: src }).filter(
    (file) => !file.endsWith('.test.ts'),
  )
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
