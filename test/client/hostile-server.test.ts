import assert from 'node:assert/strict'
import { mkdir, readdir, symlink } from 'node:fs/promises'
import { createServer } from 'node:http'
import path from 'node:path'
import { describe, it } from 'node:test'
import { nameProblem } from '../../packages/client/local-names.ts'
import { progressLine } from '../../packages/client/progress.ts'
import { shown } from '../../packages/client/terminal.ts'
import { Client } from '../support/client.ts'
import { clientUser, listening } from './support.ts'

const LIBRARY = '0e4f6ad2-9a3b-4b61-9a4d-3f6a7f1e2c11'
const ID = 'a'.repeat(40)

/** Answers as a server would, with names that no server of ours would send. */
async function startHostileServer(entries: readonly { name: string; type: 'file' | 'dir' }[]) {
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost')
    const json = (body: unknown, headers = {}) => {
      response.writeHead(200, { 'Content-Type': 'application/json', ...headers })
      response.end(JSON.stringify(body))
    }
    if (url.pathname === '/api/v2.1/repos/') {
      const library = {
        type: 'mine',
        repo_id: LIBRARY,
        repo_name: 'Evil\u{1b}[2J',
        permission: 'rw',
        size: 1,
      }
      return json({ repos: [{ ...library, encrypted: false, last_modified: '2026-11-17T00:00:00Z' }] })
    }
    if (url.pathname.endsWith('/dir/')) {
      const isRoot = url.searchParams.get('p') === '/'
      const listed = isRoot ? entries : [{ name: 'inner', type: 'file' as const }]
      return json({ dirent_list: listed.map((one) => ({ ...one, id: ID, mtime: 1, size: 5 })) })
    }
    if (url.pathname.startsWith('/api2/repos/')) {
      return json(`http://${request.headers.host}/content`, { oid: ID })
    }
    response.end('owned')
  })
  return listening(server)
}

describe('names of a hostile server', () => {
  it('never write outside the target', async () => {
    await using server = await startHostileServer([
      { name: '../escaped', type: 'file' },
      { name: '..', type: 'dir' },
      { name: '/absolute', type: 'file' },
      { name: 'a\\b', type: 'file' },
      { name: 'line\nbreak', type: 'file' },
      { name: 'linked', type: 'dir' },
      { name: 'good', type: 'file' },
    ])
    await using user = await clientUser(new Client(server.url, 'token'))
    const target = path.join(user.folder, 'target')
    const outside = path.join(user.folder, 'outside')
    await mkdir(target)
    await mkdir(outside)
    await symlink(outside, path.join(target, 'linked'))
    const { failed, files } = await user.json(['cp', '-r', `${LIBRARY}:`, target], 9)
    assert.equal(files, 1)
    assert.equal(failed.length, 6)
    assert.deepEqual(await readdir(target), ['good', 'linked'])
    assert.deepEqual(await readdir(outside), [])
    assert.deepEqual((await readdir(user.folder)).sort(), ['outside', 'target'])
  })

  it('do not reach the terminal raw', async () => {
    await using server = await startHostileServer([{ name: 'x\u{1b}]0;title\u{7}\u{202e}txt', type: 'file' }])
    await using user = await clientUser(new Client(server.url, 'token'))
    const { stdout } = await user.run(['ls', `${LIBRARY}:`])
    assert.equal(stdout, 'x\\u{1b}]0;title\\u{7}\\u{202e}txt\n')
    assert.equal((await user.run(['ls'])).stdout, 'Evil\\u{1b}[2J:\n')
    assert.doesNotMatch((await user.run(['find', `${LIBRARY}:`])).stdout, /\u{1b}/u)
  })

  it('are refused as local names if a system could interpret them', () => {
    for (const name of ['', '.', '..', 'a/b', 'a\\b', 'a\0', 'a\u{1b}', 'x'.repeat(256), '\ud800']) {
      assert.notEqual(nameProblem(name, 'linux'), undefined, JSON.stringify(name))
    }
    for (const name of ['a', '...', ' a', 'ü', '.hidden']) assert.equal(nameProblem(name, 'linux'), undefined)
    for (const name of ['a:b', 'nul', 'COM1.txt', 'a.', 'a ']) {
      assert.notEqual(nameProblem(name, 'win32'), undefined, name)
      assert.equal(nameProblem(name, 'linux'), undefined, name)
    }
  })

  it('are escaped in the progress bar, which fits the terminal', () => {
    const state = { done: 50, total: 100, files: 2, rate: 10, name: 'a\u{1b}[31m'.repeat(40), width: 80 }
    const line = progressLine(state)
    assert.ok(line.length < 80)
    assert.match(line, /^\[#{12} {12}\] {2}50 % {2}10 B\/s {2}ETA 00:05 {2}2 files/)
    assert.equal(shown(line), line)
  })
})
