import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import net, { type AddressInfo } from 'node:net'
import path from 'node:path'
import { describe, it } from 'node:test'
import { S3Target } from '../../src/maintenance/backup/s3-target.ts'
import { Client } from '../support/client.ts'
import { carrel, environment, program } from '../support/command.ts'
import { download } from '../support/encrypted.ts'
import { S3_KINDS, type S3Endpoint, s3OrSkip } from '../support/s3.ts'
import { startServer } from '../support/server.ts'
import { storeFile } from '../support/stored-files.ts'
import { uploadFile } from '../support/transfer.ts'
import { flagsOf, temporaryFolder } from './support.ts'

/** So many blocks of more than 1 MiB that a backup lists the first ones before it ends. */
const LARGE_FILES = 36
const LARGE_BYTES = 1_200_000

for (const kind of S3_KINDS) {
  describe(`backups on the S3 service of ${kind}`, () => {
    it('are made, continued after a kill, verified, pruned and restored', async (t) => {
      await using service = await s3OrSkip(t, kind)
      if (service === undefined) return
      await using folder = await temporaryFolder()
      await using server = await startServer()
      const ann = await server.signUp({ email: 'ann@example.org', password: 'a long password' })
      const library = await ann.createLibrary('Papers')
      const first = randomBytes(3_000_000)
      await uploadFile(ann, library, '/first ü.bin', first)
      await uploadFile(ann, library, '/small.txt', 'small')
      const to = (prefix: string, changed: Partial<S3Endpoint> = {}) =>
        runnerFor({ ...service, ...changed }, prefix)
      const plain = to('deep/prefix')
      const data = flagsOf(server)

      // In full, then a second one, which is killed after it stored a part, then again.
      const full = await plain.json('backup', ...data)
      assert.ok(full.addedBytes > 3_000_000)
      for (let number = 0; number < LARGE_FILES; number++) {
        await storeFile(server, ann, library, `/large-${number}.bin`, randomBytes(LARGE_BYTES))
      }
      await killedAfterFirstIndex(service, plain.target, data)
      assert.deepEqual(
        (await plain.json('backup list')).snapshots.length,
        1,
        'a killed backup leaves no snapshot',
      )
      const continued = await plain.json('backup', ...data)
      // The first index lists most files, or on a busy machine those of its first seconds: at least one.
      const left = continued.addedBytes / LARGE_BYTES
      assert.ok(left < LARGE_FILES - 0.5, `${left} files of ${LARGE_FILES} were stored again`)
      const unchanged = await plain.json('backup', ...data)
      assert.ok(unchanged.addedBytes < 50_000, `${unchanged.addedBytes} bytes for an unchanged server`)
      assert.deepEqual((await plain.json('backup verify', '--read-data')).problems, [])

      // Only the newest snapshot stays, and it is complete.
      const pruned = await plain.json(
        'backup prune',
        '--backup-keep-last',
        '1',
        '--backup-keep-daily',
        '0',
        '--backup-keep-weekly',
        '0',
        '--backup-keep-monthly',
        '0',
      )
      assert.deepEqual([pruned.kept.length, pruned.removed.length], [1, 2])
      assert.deepEqual((await plain.json('backup verify', '--read-data')).problems, [])

      // Nothing outside of the prefix, and another prefix is another target.
      const outside = await S3Target.open(`s3://${service.bucket}`, service)
      for await (const { name } of outside.list('')) assert.ok(name.startsWith('deep/prefix/'), name)
      const passphrase = path.join(folder.path, 'passphrase')
      await writeFile(passphrase, 'a long passphrase\n')
      const encrypted = to('encrypted')
      const sealed = ['--backup-passphrase-file', passphrase]
      await encrypted.json('backup', ...data, ...sealed)
      await encrypted.refused('backup list', /is encrypted: name the file with its passphrase/)
      assert.deepEqual((await encrypted.json('backup verify', '--read-data', ...sealed)).problems, [])

      await to('deep/prefix', { secretKey: 'wrong' }).refused(
        'backup list',
        /cannot be used \(403 .*the AWS credentials/,
      )
      await to('deep/prefix', { accessKey: 'nobody' }).refused(
        'backup list',
        /cannot be used \(40[13].*the AWS credentials/,
      )
      await to('x', { bucket: 'no-such-bucket' }).refused(
        'backup',
        /cannot be used \(404 .*the bucket exists/,
        ...data,
      )
      await to('nothing-here').refused('backup list', /There is no backup in s3:/)

      for (const [runner, flags] of [
        [plain, []],
        [encrypted, sealed],
      ] as const) {
        const restored = path.join(folder.path, `restored-${flags.length}`)
        await runner.json('restore', '--data', restored, ...flags)
        await using again = await startServer({ data: restored })
        const client = await Client.signIn(again.url, 'ann@example.org', 'a long password')
        assert.deepEqual(await download(client, library, '/first ü.bin'), first)
        assert.equal((await download(client, library, '/large-7.bin')).length, LARGE_BYTES)
      }
    })
  })
}

function settingsOf({ accessKey, secretKey }: S3Endpoint): Record<string, string> {
  return { AWS_ACCESS_KEY_ID: accessKey, AWS_SECRET_ACCESS_KEY: secretKey }
}

/** Runs commands on a target of the service. */
function runnerFor(service: S3Endpoint, prefix: string) {
  const target = `s3://${service.bucket}/${prefix}?endpoint=${service.endpoint}&region=${service.region}`
  const run = (command: string, flags: readonly string[]) =>
    carrel([...command.split(' '), target, ...flags], { env: settingsOf(service) })
  return {
    target,
    async json(command: string, ...flags: string[]) {
      const { code, stdout, stderr } = await run(command, [...flags, '--json'])
      assert.equal(code, 0, stderr || stdout)
      return JSON.parse(stdout)
    },
    async refused(command: string, expected: RegExp, ...flags: string[]) {
      const { code, stderr } = await run(command, flags)
      assert.equal(code, 1)
      assert.match(stderr, expected)
    },
  }
}

/** Runs a backup through a proxy that kills it once the service has stored the first index object. */
async function killedAfterFirstIndex(
  service: S3Endpoint,
  target: string,
  flags: readonly string[],
): Promise<void> {
  const { hostname, port } = new URL(service.endpoint)
  let backup: ChildProcess | undefined
  const proxy = net.createServer((client) => {
    const upstream = net.connect(Number(port), hostname)
    let isIndex = false
    client.on('data', (bytes: Buffer) => {
      isIndex ||= bytes.includes('PUT ') && bytes.includes('/index/')
      upstream.write(bytes)
    })
    upstream.on('data', (bytes: Buffer) => {
      if (isIndex && bytes.includes('HTTP/1.1 200')) backup?.kill('SIGKILL')
      client.write(bytes)
    })
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('close', () => other.destroy())
      one.on('error', () => other.destroy())
    }
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const endpoint = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  backup = spawn(
    process.execPath,
    [...program, 'backup', target.replace(service.endpoint, endpoint), ...flags],
    {
      stdio: 'ignore',
      env: {
        ...process.env,
        ...environment,
        ...settingsOf(service),
        CARREL_UNSAFE_STORAGE: 'allow',
      },
    },
  )
  const [, signal] = await once(backup, 'exit')
  proxy.close()
  assert.equal(signal, 'SIGKILL', 'the backup ended before it stored an index')
}
