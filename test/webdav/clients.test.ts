import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, chown, mkdir, mkdtemp, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { findProgram } from '../../bin/system-programs.ts'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'

const exec = promisify(execFile)
const SECRET = 'davSecret-1'
const TIME = 1_700_000_000

describe('real WebDAV clients', { timeout: 120_000 }, () => {
  let server: TestServer
  let user: Client
  let folder = ''
  before(async () => {
    server = await startServer()
    user = await server.signUp({ email: 'dav@example.org' })
    await user.put('/api/v2.1/webdav-secret/', { form: { secret: SECRET } })
    await user.createLibrary('Team files')
    folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-dav-clients-'))
    await mkdir(path.join(folder, 'source/deep/er'), { recursive: true })
    await writeFile(path.join(folder, 'source/empty.txt'), '')
    await writeFile(path.join(folder, 'source/größe – 大 😀 & %.txt'), 'unicode')
    await writeFile(path.join(folder, 'source/deep/er/large.bin'), randomBytes(5_000_000))
    await utimes(path.join(folder, 'source/deep/er/large.bin'), TIME, TIME)
  })
  after(async () => {
    await server[Symbol.asyncDispose]()
    await rm(folder, { recursive: true })
  })

  it('rclone makes a round trip: copies, checks, times, moves, deletes', async (t) => {
    const program = findProgram('rclone')
    if (program === undefined) return t.skip('rclone is not installed')
    const { stdout: pass } = await exec(program, ['obscure', SECRET])
    const config = path.join(folder, 'rclone.conf')
    await writeFile(
      config,
      `[it]\ntype = webdav\nvendor = owncloud\nurl = ${server.url}/dav/\nuser = ${user.email}\npass = ${pass.trim()}\n`,
    )
    const rclone = async (...args: string[]) =>
      (await exec(program, ['--config', config, '--retries', '1', ...args])).stdout
    const source = path.join(folder, 'source')
    await rclone('copy', source, 'it:Team files/up')
    await rclone('check', '--download', source, 'it:Team files/up')
    // By the checksums that the server has, of every file.
    const { stderr } = await exec(program, ['--config', config, 'check', source, 'it:Team files/up'])
    assert.match(stderr, /3 matching files/)
    assert.doesNotMatch(stderr, /could not be checked/)
    for (const algorithm of ['md5', 'sha1']) {
      const [here, there] = await Promise.all(
        [source, 'it:Team files/up'].map(async (at) =>
          (await rclone('hashsum', algorithm, at)).trim().split('\n').sort(),
        ),
      )
      assert.deepEqual(there, here)
    }
    const { free, used } = JSON.parse(await rclone('about', '--json', 'it:'))
    assert.ok(free > 0 && used >= 5_000_000, `${free} ${used}`)
    // Other content of the same size and time is found by its checksum.
    const changed = path.join(source, 'deep/er/large.bin')
    const original = await readFile(changed)
    await writeFile(changed, randomBytes(5_000_000))
    await utimes(changed, TIME, TIME)
    await rclone('copy', '--checksum', source, 'it:Team files/up')
    await rclone('check', '--download', source, 'it:Team files/up')
    await writeFile(changed, original)
    await utimes(changed, TIME, TIME)
    await rclone('copy', '--checksum', source, 'it:Team files/up')
    // Nothing is sent again, so the times are right, too.
    assert.equal(await rclone('copy', '-v', '--dry-run', source, 'it:Team files/up'), '')
    await rclone('copy', 'it:Team files/up', path.join(folder, 'back'))
    const back = path.join(folder, 'back/deep/er/large.bin')
    assert.deepEqual(await readFile(back), await readFile(path.join(source, 'deep/er/large.bin')))
    assert.equal((await stat(back)).mtimeMs / 1000, TIME)
    await rclone('moveto', 'it:Team files/up/deep', 'it:Team files/moved')
    assert.deepEqual((await rclone('lsf', '-R', 'it:Team files/moved')).trim().split('\n').sort(), [
      'er/',
      'er/large.bin',
    ])
    await rclone('purge', 'it:Team files/up')
    assert.equal((await rclone('lsf', 'it:Team files')).trim(), 'moved/')
    return undefined
  })

  it('cadaver stores, lists, locks, copies and fetches', async (t) => {
    const program = findProgram('cadaver')
    if (program === undefined) return t.skip('cadaver is not installed')
    const home = path.join(folder, 'cadaver')
    await mkdir(home)
    await writeFile(
      path.join(home, '.netrc'),
      `machine ${new URL(server.url).hostname} login ${user.email} password ${SECRET}\n`,
      { mode: 0o600 },
    )
    await writeFile(path.join(home, 'a.txt'), 'from cadaver')
    const child = spawn(program, [`${server.url}/dav/Team%20files/`], {
      cwd: home,
      env: { ...process.env, HOME: home },
    })
    let said = ''
    child.stdout.on('data', (text) => (said += text))
    child.stderr.on('data', (text) => (said += text))
    child.stdin.end(
      ['mkcol c', 'cd c', 'put a.txt', 'lock a.txt', 'put a.txt', 'unlock a.txt', 'copy a.txt b.txt']
        .concat(['propset b.txt color red', 'propget b.txt color', 'get b.txt back.txt', 'ls', 'quit'])
        .join('\n'),
    )
    await once(child, 'close')
    assert.equal(await readFile(path.join(home, 'back.txt'), 'utf8'), 'from cadaver', said)
    assert.doesNotMatch(said, /failed/, said)
    assert.match(said, /a\.txt.*\n.*b\.txt/, said)
    return undefined
  })

  /** Runs a script of commands, and fails with everything that it printed. */
  async function run(program: string, args: readonly string[], env: Record<string, string>): Promise<string> {
    const options = { env: { ...process.env, ...env }, maxBuffer: 2 ** 24 }
    const { stdout } = await exec(program, args, options).catch((error: { stdout: string; stderr: string }) =>
      assert.fail(`${error.stdout}\n${error.stderr}`),
    )
    return stdout
  }

  const namesIn = async (library: string, folder: string): Promise<string[]> => {
    const { body } = await user.get(`/api/v2.1/repos/${library}/dir/`, { p: folder })
    return body.dirent_list.map(({ name }: { name: string }) => name).sort()
  }

  it('davfs2 mounts the libraries as a file system', async (t) => {
    if (findProgram('mount.davfs') === undefined) return t.skip('davfs2 is not installed')
    if (process.getuid?.() !== 0 || !existsSync('/dev/fuse')) return t.skip('davfs2 needs root and /dev/fuse')
    const library = await user.createLibrary('Mounted files')
    // The daemon runs as an account of its own, which enters the folder.
    await chmod(folder, 0o711)
    const home = path.join(folder, 'davfs')
    for (const name of ['', 'point']) await mkdir(path.join(home, name))
    const group = Number((await exec('id', ['-g', 'davfs2'])).stdout)
    const cache = path.join(home, 'cache')
    const newCache = async () => {
      await rm(cache, { recursive: true, force: true })
      await mkdir(cache)
      await chown(cache, 0, group)
      await chmod(cache, 0o775)
    }
    await newCache()
    const url = `${server.url}/dav/`
    await writeFile(path.join(home, 'secrets'), `${url} ${user.email} ${SECRET}\n`, { mode: 0o600 })
    await writeFile(
      path.join(home, 'davfs2.conf'),
      `secrets ${home}/secrets\ncache_dir ${home}/cache\nask_auth 0\ndelay_upload 0\nuse_locks 1\n`,
    )
    const source = path.join(folder, 'source')
    const env = { URL: url, HOME_: home, SOURCE: source }
    // In a mount namespace of its own, which ends with the script, whatever happens.
    const mounted = (commands: string) =>
      run(
        'unshare',
        [
          '--mount',
          'sh',
          '-ec',
          `mount.davfs "$URL" "$HOME_/point" -o "conf=$HOME_/davfs2.conf,uid=0,gid=0"
           cd "$HOME_/point/Mounted files"
           ${commands}
           cd /
           umount "$HOME_/point" > /dev/null`,
        ],
        env,
      )
    await mounted(`mkdir -p there/deep
      cp "$SOURCE/deep/er/large.bin" there/deep/large.bin
      cp "$SOURCE/größe – 大 😀 & %.txt" there/
      printf 'first' > there/a.txt
      printf ' and second' >> there/a.txt
      mv there/a.txt there/b.txt`)
    assert.deepEqual(await namesIn(library, '/there'), ['b.txt', 'deep', 'größe – 大 😀 & %.txt'])
    // Nothing of the first mount is cached.
    await newCache()
    const said = await mounted(`cmp "$SOURCE/deep/er/large.bin" there/deep/large.bin
      cat there/b.txt
      rm there/deep/large.bin there/b.txt`)
    assert.equal(said.trim(), 'first and second')
    assert.deepEqual(await namesIn(library, '/there'), ['deep', 'größe – 大 😀 & %.txt'])
    assert.deepEqual(await namesIn(library, '/there/deep'), [])
    return undefined
  })

  it('gio makes a round trip, as the file manager of GNOME does', async (t) => {
    const session = findProgram('dbus-run-session')
    if (findProgram('gio') === undefined || session === undefined) return t.skip('gio is not installed')
    if (!existsSync('/usr/share/gvfs/mounts/dav.mount')) return t.skip('gvfs-backends is not installed')
    const library = await user.createLibrary('Gnome files')
    const home = path.join(folder, 'gio')
    await mkdir(home, { mode: 0o700 })
    const { host } = new URL(server.url)
    const env = {
      ROOT: `dav://${encodeURIComponent(user.email)}@${host}/dav/`,
      SECRET,
      SOURCE: path.join(folder, 'source'),
      HOME: home,
      XDG_RUNTIME_DIR: home,
      XDG_DATA_HOME: home,
      GVFS_DISABLE_FUSE: '1',
      LC_ALL: 'C.UTF-8',
    }
    const script = `printf '%s\\n' "$SECRET" | gio mount "$ROOT" > /dev/null
      at="\${ROOT}Gnome%20files"
      gio mkdir "$at/there"
      gio copy "$SOURCE/deep/er/large.bin" "$at/there/large.bin"
      gio copy "$SOURCE/größe – 大 😀 & %.txt" "$at/there/"
      printf 'text' | gio save "$at/there/a.txt"
      gio rename "$at/there/a.txt" b.txt > /dev/null
      gio list "$at/there" | sort
      gio cat "$at/there/b.txt"
      gio copy "$at/there/large.bin" "$HOME/back.bin"
      cmp "$SOURCE/deep/er/large.bin" "$HOME/back.bin"
      gio remove "$at/there/b.txt"
      gio mount --unmount "$ROOT"`
    const said = await run(session, ['--', 'sh', '-ec', script], env)
    assert.equal(said.trim(), 'b.txt\ngröße – 大 😀 & %.txt\nlarge.bin\ntext')
    assert.deepEqual(await namesIn(library, '/there'), ['größe – 大 😀 & %.txt', 'large.bin'])
    return undefined
  })
})
