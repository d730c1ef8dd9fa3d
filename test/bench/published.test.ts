import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { startServer } from '../support/server.ts'

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
  it('are JSON, a table, and plots of ratios and curves', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-results-'))
    const args = ['--only', 'ping,curves,mix', '--database', 'sqlite', '--out', folder]
    const { output, errors, code } = await bench(args)
    assert.equal(code, 0, output + errors)
    assert.deepEqual((await readdir(folder)).sort(), [
      'adding-a-file-to-a-folder.svg',
      'listing-a-folder.svg',
      'memory.svg',
      'pings.svg',
      'ratios.svg',
      'results.json',
      'results.md',
    ])
    const plot = await readFile(path.join(folder, 'listing-a-folder.svg'), 'utf8')
    assert.match(plot, /<polyline points="[\d., -]+"/)
    assert.doesNotMatch(plot, /NaN|undefined|Infinity/)
    assert.match(
      await readFile(path.join(folder, 'results.md'), 'utf8'),
      /^\| mix, errors \| SQLite \| 0 requests /m,
    )
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
    const { body } = await user.get('/api2/repos/')
    assert.ok(!JSON.stringify(body).includes('Bench '), 'the library of the run is deleted')
  })
})
