import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'

const RUN = path.join(import.meta.dirname, '../../bench/run.ts')

async function bench(...args: string[]) {
  const child = spawn(process.execPath, [RUN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const [output, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ])
  return { output, errors, code }
}

describe('the bench', () => {
  it('starts servers and prints a table with a row for each kind of work', async () => {
    const { output, errors, code } = await bench('--quick', '--only', 'ping,create', '--database', 'sqlite')
    assert.equal(code, 0, output + errors)
    assert.match(
      output,
      /^Work +Database +Measured +p50 ms +p99 ms +CPU s +Peak MB +Raw limit +Target +Met$/m,
    )
    for (const work of [
      'ping, 8 clients',
      'create file, 4 clients, one folder',
      'make folder, 4 clients, 100 folders',
    ]) {
      assert.match(output, new RegExp(`^${work} +SQLite +[\\d,.]+ per s .*≥ [\\d,]+ per s +(yes|NO)$`, 'm'))
    }
    assert.match(output, /^memory peak .* SQLite +[\d,.]+ MB .*≤ 600 MB +(yes|NO)$/m)
  })

  it('uploads and downloads, and reports the CPU time and memory of the server', async () => {
    const args = ['--quick', '--only', 'big-uploads,downloads', '--database', 'sqlite']
    const { output, errors, code } = await bench(...args)
    assert.equal(code, 0, output + errors)
    const cost = '[\\d,.]+ +[\\d,.]+'
    assert.match(output, new RegExp(`^upload of 20 MiB, one stream +SQLite +[\\d,.]+ MB/s +${cost} .*≥`, 'm'))
    assert.match(
      output,
      new RegExp(`^downloads by link of 1 KB, .* SQLite +[\\d,]+ per s +[\\d.]+ +[\\d.]+ +${cost} `, 'm'),
    )
  })

  it('compares WebDAV with the servers that are installed', async () => {
    const { output, errors, code } = await bench('--quick', '--only', 'webdav', '--database', 'sqlite')
    assert.equal(code, 0, output + errors)
    for (const work of [
      'PUT of 4 KiB, 16 clients',
      'PUT of 20 MiB',
      'GET of 20 MiB',
      'PROPFIND of 500 entries',
    ]) {
      assert.match(output, new RegExp(`^WebDAV: ${work}.* SQLite +[\\d,.]+ `, 'm'))
    }
    for (const name of ['Apache mod_dav', 'nginx DAV', 'rclone serve webdav']) {
      assert.ok(output.includes(`${name}: PUT of 4 KiB`) || errors.includes(`no rows for ${name}: `), errors)
    }
  })

  it('compares with a commit only if there is one', async () => {
    const { output, errors, code } = await bench('--against', 'no-such-commit', '--only', 'ping')
    assert.equal(code, 2, output)
    assert.match(errors, /^There is no commit no-such-commit\.$/m)
  })

  it('lists the scenarios when an unknown one is requested', async () => {
    const { output, errors, code } = await bench('--only', 'flying')
    assert.equal(code, 2, output)
    assert.match(errors, /^There is no scenario flying: choose from ping, /)
  })
})
