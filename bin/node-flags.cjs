'use strict'
// What Node is started with. What is young may take twice this in MB: left to itself, V8 takes four times as much, and
// is no faster for it, because requests leave little behind. It can only be said at the start of a process.
module.exports = ['--max-semi-space-size=16']
