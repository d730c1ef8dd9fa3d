'use strict'
// Old syntax on purpose: this must run on any Node from 12 on, to reach the Node we bring along.
const childProcess = require('child_process')
const fs = require('fs')
const path = require('path')
const nodeFlags = require('./node-flags.cjs')

const root = path.join(__dirname, '..')

const program = nodeFlags.concat(path.join(root, 'src', 'main.mjs'))

/** The Node that Carrel runs on: the one installed with it, else the running one if it will do. */
function findNode() {
  const name = runtimePackage()
  const file = process.platform === 'win32' ? 'node.exe' : 'node'
  // Beside us in a checkout, above us where Carrel is itself a dependency.
  const folders = [path.join(root, 'node_modules'), path.join(root, '..')]
  const found = folders
    .map((folder) => path.join(folder, name, 'bin', file))
    .find((candidate) => fs.existsSync(candidate))
  if (found !== undefined) return found
  return runningNodeWillDo() ? process.execPath : undefined
}

/** The npm package that contains Node for this machine, if there is one. */
function runtimePackage() {
  return 'node-' + (process.platform === 'win32' ? 'win' : process.platform) + '-' + process.arch
}

// The range src/cli/node-version.ts checks too: >=24.16 <25 || >=26.1.
function runningNodeWillDo() {
  const version = process.versions.node.split('.').map(Number)
  const major = version[0]
  const minor = version[1]
  return (major === 24 && minor >= 16) || (major === 26 && minor >= 1) || major > 26
}

/** Becomes `node args`: its output, its signals and its exit code are ours from here on. */
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
  // Node 24 can become another program, which leaves no process between us and who started us. Not
  // under npm on a terminal: npm repeats the Ctrl-C that the terminal sends to all, and `run` takes
  // that repetition out.
  const repeated = process.stdin.isTTY && process.env.npm_lifecycle_event !== undefined
  if (typeof process.execve === 'function' && process.platform !== 'win32' && !repeated) {
    process.execve(node, [node].concat(args), process.env)
  }
  run(node, args, {}, (error, code) => {
    if (error) giveUp('Node.js could not be started from ' + node + ' (' + error.code + ').')
    process.exit(code)
  })
}

/** Runs a program, passing signals on, and calls `done` once it has ended with a code. */
function run(program, args, options, done) {
  const child = childProcess.spawn(program, args, Object.assign({ stdio: 'inherit' }, options))
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  const pass = (signal) => {
    // A terminal sends Ctrl-C to the child as well; twice would read as impatience.
    if (signal === 'SIGINT' && process.stdin.isTTY) return
    child.kill(signal)
  }
  signals.forEach((signal) => process.on(signal, pass))
  const settle = () => signals.forEach((signal) => process.removeListener(signal, pass))
  child.on('error', (error) => {
    settle()
    done(error)
  })
  child.on('exit', (code, signal) => {
    settle()
    // Ended by a signal: so do we, for whoever asks how we ended.
    if (signal !== null) process.kill(process.pid, signal)
    else done(undefined, code)
  })
}

function giveUp(sentence) {
  process.stderr.write(sentence + '\n')
  process.exit(1)
}

module.exports = { root, program, findNode, runtimePackage, handOver, run, giveUp }
