#!/usr/bin/env node
'use strict'
const { handOver, program } = require('./hand-over.cjs')

handOver(program.concat(process.argv.slice(2)))
