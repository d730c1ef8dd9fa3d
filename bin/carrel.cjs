#!/usr/bin/env node
'use strict'
const path = require('path')
const { handOver, root } = require('./hand-over.cjs')

handOver([path.join(root, 'src', 'main.mjs')].concat(process.argv.slice(2)))
