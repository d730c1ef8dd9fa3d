import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { findProgram } from '../../bin/system-programs.ts'
import { carrel, environment, program } from '../support/command.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'

const exec = promisify(execFile)
const TIMEOUT_MS = 120_000

/** Lines as they are typed, and after the tab key. Those of folders and libraries can be continued. */
const lines: readonly (readonly [typed: string, completed: string])[] = [
  ['carrel sea', 'carrel search '],
  ['carrel cp --rec', 'carrel cp --recursive '],
  ['carrel ls Compl', 'carrel ls Completed:'],
  ['carrel ls Completed:/do', 'carrel ls Completed:/docs/'],
  ['carrel cat Completed:/docs/fi', 'carrel cat Completed:/docs/file '],
  ['carrel cp some-lo', 'carrel cp some-local-file '],
  ['carrel ls Nowhere:/x', 'carrel ls Nowhere:/x'],
]

/** What a shell does before it reports its line for the key ctrl-X. */
const setups = {
  zsh: `PS1=; autoload -Uz compinit; compinit -D -u; source $1; report() { print -r -- "<$BUFFER>"; BUFFER=; }; zle -N report; bindkey '^X' report`,
  bash: `PS1=; source $1; report() { printf '<%s>\\n' "$READLINE_LINE"; READLINE_LINE=; }; bind -x '"\\C-x": report'`,
}

/** Starts a shell on a pseudo-terminal, types each line and the tab key, and prints the line that results. */
const driver = (shell: string, setup: string) => `zmodload zsh/zpty
zpty shell ${shell}
zpty -w shell ${quoted(setup.replace('$1', './completion'))}"; echo rea''dy"
zpty -r shell out '*ready*'
for line; do
  zpty -w -n shell "$line"$'\\t\\x18'
  zpty -r shell out '*<*>*'
  print -r -- "$out"
done
`

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

describe('completion in real shells', { timeout: 3 * TIMEOUT_MS }, () => {
  let server: TestServer
  let folder = ''
  let env: Record<string, string> = {}
  before(async () => {
    server = await startServer()
    const user = await server.signUp()
    await uploadFile(user, await user.createLibrary('Completed'), '/docs/file', 'x')
    folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-shells-'))
    await mkdir(path.join(folder, 'bin'))
    const command = [process.execPath, ...program].map(quoted).join(' ')
    await writeFile(path.join(folder, 'bin/carrel'), `#!/bin/sh\nexec ${command} "$@"\n`, { mode: 0o755 })
    await writeFile(path.join(folder, 'some-local-file'), '')
    env = {
      ...environment,
      PATH: `${path.join(folder, 'bin')}:${process.env['PATH']}`,
      HOME: folder,
      TERM: 'dumb',
      CARREL_CLIENT_URL: user.url,
      CARREL_CLIENT_TOKEN: user.token ?? '',
    }
  })
  after(async () => {
    await server[Symbol.asyncDispose]()
    await rm(folder, { recursive: true })
  })

  const writeScript = async (shell: string) =>
    writeFile(path.join(folder, 'completion'), (await carrel(['completion', shell])).stdout)

  for (const [shell, start] of [
    ['zsh', 'zsh -f -i'],
    ['bash', 'bash --norc -i'],
  ] as const) {
    it(`${shell} completes a line with the tab key`, async (t: TestContext) => {
      const zsh = findProgram('zsh')
      if (zsh === undefined) return t.skip('zsh is not installed')
      await writeScript(shell)
      await writeFile(path.join(folder, 'driver'), driver(start, setups[shell]))
      const typed = lines.map(([line]) => line)
      const { stdout } = await exec(zsh, ['-f', 'driver', ...typed], {
        cwd: folder,
        env,
        timeout: TIMEOUT_MS,
      })
      const reported = [...stdout.matchAll(/<([^>]*)>/g)].map(([, line]) => line)
      assert.deepEqual(
        reported,
        lines.map(([, completed]) => completed),
      )
    })
  }

  it('fish lists the same words', async (t: TestContext) => {
    const fish = findProgram('fish')
    if (fish === undefined) return t.skip('fish is not installed')
    await writeScript('fish')
    const script = 'source completion; for line in $argv; complete -C $line; echo end; end'
    const args = ['--no-config', '-c', script, ...lines.map(([line]) => line)]
    const { stdout } = await exec(fish, args, { cwd: folder, env, timeout: TIMEOUT_MS })
    const lastWords = lines.map(([typed, completed]) =>
      typed === completed ? '' : `${completed.trim().split(' ').at(-1)}\n`,
    )
    // A description may follow a word after a tab.
    assert.equal(stdout.replace(/\t.*$/gm, ''), lastWords.map((words) => `${words}end\n`).join(''))
  })
})
