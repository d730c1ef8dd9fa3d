import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { startServer } from '../support/server.ts'

const README = path.join(import.meta.dirname, '../../README.md')
const RUN = path.join(import.meta.dirname, '../../bench/run.ts')

async function bench(args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [RUN, '--quick', ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [output, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ])
  return { output, errors, code }
}

describe('published results', () => {
  it('are JSON, a table, plots of ratios and curves, and ratios in a README', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-results-'))
    const readme = path.join(folder, 'README.md')
    await writeFile(readme, await readFile(README, 'utf8'))
    const out = path.join(folder, 'out')
    const curves = 'curve-folder,curve-library,curve-history,curve-accounts,curve-connections'
    const args = ['--database', 'sqlite', '--out', out, '--readme', readme]
    const first = await bench(['--only', `ping,${curves}`, ...args])
    assert.equal(first.code, 0, first.output + first.errors)
    const second = await bench(['--only', 'mix', '--add', ...args])
    assert.equal(second.code, 0, second.output + second.errors)
    assert.deepEqual((await readdir(out)).sort(), [
      'length-of-a-history.svg',
      'number-of-accounts.svg',
      'number-of-connections.svg',
      'ratios.svg',
      'results.json',
      'results.md',
      'size-of-a-folder.svg',
      'size-of-a-library.svg',
    ])
    const plot = await readFile(path.join(out, 'size-of-a-folder.svg'), 'utf8')
    assert.match(plot, /<polyline points="[\d., -]+"/)
    assert.doesNotMatch(plot, /NaN|undefined|Infinity/)
    const table = await readFile(path.join(out, 'results.md'), 'utf8')
    assert.match(table, /^\| mix, errors \| SQLite \| 0 requests /m)
    for (const row of [
      'Size of a folder, 1,000 entries: rename a file',
      'Size of a library, 1,000 files: search for a name',
      'Length of a history, 1,000 commits: restore a file',
      'Number of accounts, 1,000 accounts: sign in',
      'Number of connections, 100 connections: memory peak',
      'ping, 8 clients',
    ]) {
      assert.match(table, new RegExp(`^\\| ${row} \\| SQLite \\| [\\d.,]+ `, 'm'))
    }
    assert.match(await readFile(readme, 'utf8'), /^\| ping, 8 clients \| [\d,]+ per s \|/m)
    await rm(folder, { recursive: true })
  })

  it('can be of any server with this API', async () => {
    await using server = await startServer()
    const user = await server.signUp()
    const { output, errors, code } = await bench(['--url', server.url], {
      CARREL_CLIENT_TOKEN: user.token ?? '',
    })
    assert.equal(code, 0, output + errors)
    assert.match(output, /^mix, errors +– +0 requests/m)
    assert.match(output, /^mix, upload below 1 MB, p95 +– +[\d.,]+ ms/m)
    for (const row of [
      'listing of 500 entries (api2), p50',
      '4 KiB uploads, 32 clients, one folder',
      'download of 20 MiB, the first',
      'downloads by link of 1 KB, 32 clients',
    ]) {
      assert.ok(
        output.split('\n').some((line) => line.startsWith(`${row} `)),
        output,
      )
    }
    const { body } = await user.get('/api2/repos/')
    assert.ok(!JSON.stringify(body).includes('Bench '), 'the library of the run is deleted')
  })
})
