import assert from 'node:assert/strict'
import { it } from 'node:test'
import { outdatedFiles } from '../../bin/python-client.ts'

it('the Python client is what the API description says', async () => {
  assert.deepEqual(await outdatedFiles(), [], 'run node bin/python-client.ts --write')
})
