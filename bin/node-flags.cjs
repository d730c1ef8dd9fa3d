'use strict'
// Flags that only take effect at the start of a process.
module.exports = [
  // A signal must not open the inspector, by which whoever reaches it runs code in this process.
  '--disable-sigusr1',
  // Young generation of at most 32 MB. By default V8 takes four times as much and is no faster, because requests leave
  // little garbage behind.
  '--max-semi-space-size=16',
  // Lets large transfers collect the young generation alone (src/platform/http/minor-gc.ts).
  '--expose-gc',
]
