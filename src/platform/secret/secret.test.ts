import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { loadSecret } from './secret.ts'

describe('loadSecret', () => {
  let root: string
  before(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'carrel-secret-'))
  })
  after(() => rm(root, { recursive: true, force: true }))
  const folder = () => mkdtemp(path.join(root, 'data-'))

  it('creates a secret that only its owner can read, and loads it again', async () => {
    const file = path.join(await folder(), 'secret')
    const made = await loadSecret(file)
    assert.deepEqual(await loadSecret(file), made)
    assert.equal((await stat(file)).mode & 0o777, 0o600)
    assert.match(await readFile(file, 'utf8'), /^[0-9a-f]{64}\n$/)
    assert.deepEqual(await readdir(path.dirname(file)), ['secret'])
  })

  it('creates a different one each time', async () => {
    const first = await loadSecret(path.join(await folder(), 'secret'))
    assert.notDeepEqual(await loadSecret(path.join(await folder(), 'secret')), first)
  })

  it('returns the same secret to processes that start concurrently', async () => {
    for (let round = 0; round < 20; round += 1) {
      const file = path.join(await folder(), 'secret')
      const secrets = await Promise.all(Array.from({ length: 8 }, () => loadSecret(file)))
      assert.equal(new Set(secrets.map(String)).size, 1)
      assert.deepEqual(await readdir(path.dirname(file)), ['secret'])
    }
  })

  it('prefers the given one and leaves the file alone', async () => {
    const file = path.join(await folder(), 'secret')
    assert.equal(String(await loadSecret(file, 'sixteen letters!')), 'sixteen letters!')
    assert.deepEqual(await readdir(path.dirname(file)), [])
  })

  it('accepts the text of the file on another node', async () => {
    const file = path.join(await folder(), 'secret')
    const made = await loadSecret(file)
    assert.deepEqual(await loadSecret('unused', await readFile(file, 'utf8')), made)
  })

  it('rejects a short one, given or stored, without revealing it', async () => {
    const file = path.join(await folder(), 'secret')
    await writeFile(file, 'fifteen letters\n')
    for (const given of [undefined, 'fifteen letters', '  fifteen letters  ', '']) {
      await assert.rejects(loadSecret(file, given), (error: Error) => {
        assert.match(error.message, /at least 16 characters/)
        return !error.message.includes('fifteen')
      })
    }
    assert.equal(await readFile(file, 'utf8'), 'fifteen letters\n')
  })

  it('reports when the file cannot be created', async () => {
    await assert.rejects(loadSecret(path.join(await folder(), 'missing', 'secret')), { code: 'ENOENT' })
  })
})
