import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { it } from 'node:test'
import { promisify } from 'node:util'
import { findProgram } from '../../bin/system-programs.ts'
import { ADMIN, startServer } from '../support/server.ts'

const exec = promisify(execFile)
const program = findProgram('rclone')

/** A tree of what people have: empty and large files, odd names, folders in folders. */
async function makeTree(root: string): Promise<void> {
  await mkdir(path.join(root, 'deep/er/still'), { recursive: true })
  await mkdir(path.join(root, 'no files here'))
  const files: [string, Buffer][] = [
    ['empty.txt', Buffer.alloc(0)],
    ['small.txt', Buffer.from('hello\n')],
    ['größe – 大きさ 😀.md', Buffer.from('# unicode\n')],
    ["quotes ' and ; + & % # = @.txt", randomBytes(1000)],
    ['deep/64k.bin', randomBytes(65_536)],
    ['deep/er/three.bin', randomBytes(300_000)],
    ['deep/er/still/fifty.bin', randomBytes(50_000_000)],
  ]
  for (const [name, bytes] of files) await writeFile(path.join(root, name), bytes)
}

/** Every file below a folder with the hash of its bytes. */
async function hashes(root: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const file = path.join(entry.parentPath, entry.name)
    found[path.relative(root, file)] = createHash('sha256')
      .update(await readFile(file))
      .digest('hex')
  }
  return Object.fromEntries(Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1)))
}

it('rclone makes a round trip: folders, copies, checks, ranges, moves, deletes', async (t) => {
  if (program === undefined) return t.skip('rclone is not installed')
  const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-rclone-'))
  await using server = await startServer()
  const { stdout: password } = await exec(program, ['obscure', ADMIN.password])
  const config = path.join(folder, 'rclone.conf')
  await writeFile(
    config,
    `[it]\ntype = seafile\nurl = ${server.url}\nuser = ${ADMIN.email}\npass = ${password.trim()}\ncreate_library = true\n`,
  )
  const rclone = async (...args: string[]) => {
    const options = { encoding: 'buffer' as const, maxBuffer: 2 ** 26 }
    const { stdout } = await exec(program, ['--config', config, '--retries', '1', ...args], options)
    return stdout
  }
  try {
    const source = path.join(folder, 'source')
    await makeTree(source)
    await rclone('copy', '--create-empty-src-dirs', source, 'it:Library/up')
    await rclone('check', '--download', source, 'it:Library/up')
    const listed = String(await rclone('lsf', '-R', 'it:Library/up')).split('\n')
    assert.ok(listed.includes('no files here/'))
    assert.ok(listed.includes('größe – 大きさ 😀.md'))

    const back = path.join(folder, 'back')
    await rclone('copy', 'it:Library/up', back)
    assert.deepEqual(await hashes(back), await hashes(source))

    const fifty = await readFile(path.join(source, 'deep/er/still/fifty.bin'))
    const ranges = [
      [0, 1],
      [9_999_990, 20],
      [49_999_999, 1],
    ] as const
    for (const [offset, count] of ranges) {
      const args = ['--offset', `${offset}`, '--count', `${count}`, 'it:Library/up/deep/er/still/fifty.bin']
      const part = await rclone('cat', ...args)
      assert.ok(part.equals(fifty.subarray(offset, offset + count)), `${count} bytes from ${offset}`)
    }

    await rclone('mkdir', 'it:Library/made/by/rclone')
    await rclone('moveto', 'it:Library/up/small.txt', 'it:Library/made/renamed.txt')
    await rclone('copyto', 'it:Library/made/renamed.txt', 'it:Library/made/copied.txt')
    await rclone('move', 'it:Library/up/deep', 'it:Library/moved')
    assert.equal(String(await rclone('cat', 'it:Library/made/copied.txt')), 'hello\n')
    const moved = String(await rclone('lsf', '-R', '--files-only', 'it:Library/moved'))
      .trim()
      .split('\n')
    assert.deepEqual(moved.sort(), ['64k.bin', 'er/still/fifty.bin', 'er/three.bin'])

    await writeFile(path.join(source, 'empty.txt'), 'not empty any more')
    await rclone('copy', path.join(source, 'empty.txt'), 'it:Library/up')
    assert.equal(String(await rclone('cat', 'it:Library/up/empty.txt')), 'not empty any more')

    await rclone('deletefile', 'it:Library/made/copied.txt')
    await rclone('purge', 'it:Library/up')
    const left = String(await rclone('lsf', 'it:Library'))
      .trim()
      .split('\n')
    assert.deepEqual(left.sort(), ['made/', 'moved/'])
    await rclone('about', 'it:Library')
    await rclone('cleanup', 'it:Library')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
