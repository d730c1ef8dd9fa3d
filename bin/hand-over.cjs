'use strict'
// Old syntax on purpose: any Node from 12 on may run this file to start the Node that npm installed for us.
const childProcess = require('child_process')
const fs = require('fs')
const path = require('path')
const nodeFlags = require('./node-flags.cjs')

const root = path.join(__dirname, '..')

const program = nodeFlags.concat(path.join(root, 'src', 'main.mjs'))

/**
 * Variables that only take effect at the start of a process. glibc gives each thread its own arena, up to eight per core, and returns
 * little freed memory from arenas. Under mixed load the arenas held 177 MB; limited to two they held 41 MB, at the same throughput.
 */
const environment = process.platform === 'linux' ? { MALLOC_ARENA_MAX: '2' } : {}

/** Finds the Node that runs Carrel: the installed one, otherwise the current one if its version is supported. */
function findNode() {
  const name = runtimePackage()
  const file = process.platform === 'win32' ? 'node.exe' : 'node'
  // Beside us in a checkout, above us where Carrel is itself a dependency.
  const folders = [path.join(root, 'node_modules'), path.join(root, '..')]
  const found = folders
    .map((folder) => path.join(folder, name, 'bin', file))
    .find((candidate) => fs.existsSync(candidate))
  if (found !== undefined) return found
  return isCurrentNodeSupported() ? process.execPath : undefined
}

/** The npm package that contains Node for this machine, if there is one. */
function runtimePackage() {
  return 'node-' + (process.platform === 'win32' ? 'win' : process.platform) + '-' + process.arch
}

// The range src/programs/cli/node-version.ts checks too: >=24.16 <25 || >=26.1.
function isCurrentNodeSupported() {
  const version = process.versions.node.split('.').map(Number)
  const major = version[0]
  const minor = version[1]
  return (major === 24 && minor >= 16) || (major === 26 && minor >= 1) || major > 26
}

/** Flags whose values are secrets: the settings that src/base/config/settings.ts marks so. */
const SECRET_FLAGS = [
  '--admin-password',
  '--secret',
  '--metrics-token',
  '--backup-s3-secret-key',
  '--backup-s3-session-token',
]
/** A URL with a password. */
const WITH_PASSWORD = /(:\/\/[^\s/?#@:]*):[^\s/?#]*@/
const HIDDEN = '***'
/** The variable that carries arguments with secrets. Everybody on the machine can see arguments; variables, only the same account and root. */
const ARGUMENTS = 'CARREL_ARGUMENTS'

/** Arguments as others on the machine may see them. */
function withoutSecrets(args) {
  return args.map((arg, index) => {
    const flag = SECRET_FLAGS.find((one) => arg.indexOf(one + '=') === 0)
    if (flag !== undefined) return flag + '=' + HIDDEN
    if (index > 0 && SECRET_FLAGS.indexOf(args[index - 1]) !== -1) return HIDDEN
    return arg.replace(WITH_PASSWORD, '$1:' + HIDDEN + '@')
  })
}

/** Whether arguments contain a secret. */
function hasSecrets(args) {
  return withoutSecrets(args).join('\0') !== args.join('\0')
}

/** The arguments of the user, also those that were passed on by a variable. */
function ownArguments() {
  const given = process.env[ARGUMENTS]
  delete process.env[ARGUMENTS]
  return given === undefined ? process.argv.slice(2) : JSON.parse(given)
}

/** npm ends its shell and not what runs in it: only from the end of one of them does a server learn that it shall end. */
// Begins with an underscore, because every variable CARREL_… is a setting.
const ANCESTORS = '_CARREL_ANCESTORS'
const WATCH_MS = 500
const parent = process.ppid
const npmAncestors = findAncestors()

/**
 * The processes between this one and npm, nearest first, if npm started it as a command: the shell and npm itself, or npm alone where
 * the shell has become its command. Commands of other scripts may outlive npm.
 */
function findAncestors() {
  const event = process.env.npm_lifecycle_event
  if ((event !== 'start' && event !== 'npx') || process.platform === 'win32') return []
  const above = isNode(parent) ? undefined : parentOf(parent)
  return above === undefined ? [parent] : [parent, above]
}

function isNode(pid) {
  try {
    return path.basename(fs.readlinkSync('/proc/' + pid + '/exe')).indexOf('node') === 0
  } catch {
    return false
  }
}

/** Undefined if it has ended, and where there is no /proc. */
function parentOf(pid) {
  try {
    const stat = fs.readFileSync('/proc/' + pid + '/stat', 'utf8')
    // Behind the name, which may contain anything.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return undefined
  }
}

function areAncestorsThere() {
  if (npmAncestors.length === 0) return true
  return process.ppid === parent && (npmAncestors.length === 1 || parentOf(parent) === npmAncestors[1])
}

/** Replaces this process with `node args`, or runs it as a child and passes on signals, output and exit code. */
function handOver(args) {
  const node = findNode()
  if (node === undefined) {
    giveUp(
      'Carrel needs Node.js 24.16 or newer: this is ' +
        process.version +
        ', and no runtime is brought along for ' +
        process.platform +
        ' on ' +
        process.arch +
        ', so install Node.js 24 and try again.',
    )
  }
  // Those of the operator take precedence.
  const env = Object.assign({}, environment, process.env)
  const start = args.indexOf(program[program.length - 1]) + 1
  if (start > 0 && hasSecrets(args)) {
    env[ARGUMENTS] = JSON.stringify(args.slice(start))
    args = withoutSecrets(args)
    process.title = 'carrel'
  }
  if (!areAncestorsThere()) process.exit(1)
  // execve leaves no process between the server and its parent. Not under npm on a terminal: npm forwards the Ctrl-C that the
  // terminal has already sent to every process, and `run` filters out the second one.
  const repeated = process.stdin.isTTY && process.env.npm_lifecycle_event !== undefined
  const replaces = typeof process.execve === 'function' && process.platform !== 'win32' && !repeated
  const ancestors = replaces ? npmAncestors : [process.pid]
  if (start > 0 && ancestors.length > 0) env[ANCESTORS] = ancestors.join(' ')
  if (replaces) {
    process.execve(node, [node].concat(args), env)
  }
  run(node, args, { env }, (error, code) => {
    if (error) giveUp('Node.js could not be started from ' + node + ' (' + error.code + ').')
    process.exit(code)
  })
}

/** Runs a program and forwards signals to it. Calls `done` with its exit code. */
function run(program, args, options, done) {
  const child = childProcess.spawn(program, args, Object.assign({ stdio: 'inherit' }, options))
  // A listener keeps Node from opening the inspector. Old versions have no flag for that.
  process.on('SIGUSR1', () => {})
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  const pass = (signal) => {
    // A terminal sends Ctrl-C to the child as well. A second one would stop the server at once.
    if (signal === 'SIGINT' && process.stdin.isTTY) return
    child.kill(signal)
  }
  signals.forEach((signal) => process.on(signal, pass))
  const watch = setInterval(() => {
    if (areAncestorsThere()) return
    clearInterval(watch)
    child.kill('SIGTERM')
  }, WATCH_MS)
  const settle = () => {
    clearInterval(watch)
    signals.forEach((signal) => process.removeListener(signal, pass))
  }
  child.on('error', (error) => {
    settle()
    done(error)
  })
  child.on('exit', (code, signal) => {
    settle()
    // Ends by the same signal, so that the parent sees the true cause.
    if (signal !== null) process.kill(process.pid, signal)
    else done(undefined, code)
  })
}

function giveUp(sentence) {
  process.stderr.write(sentence + '\n')
  process.exit(1)
}

module.exports = {
  root,
  program,
  environment,
  findNode,
  runtimePackage,
  hasSecrets,
  ownArguments,
  handOver,
  run,
  giveUp,
}
