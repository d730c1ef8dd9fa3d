import assert from 'node:assert/strict'
import { it } from 'node:test'
import { html } from './html.ts'

it('escapes template values exactly once', () => {
  const inner = html`<b>${'a & b'}</b>`
  assert.equal(
    html`<p title="${`"'<>&\``}">${inner}${[inner, '<i>']}</p>`.text,
    ['<p title="&quot;&#39;&lt;&gt;&amp;&#96;">', '<b>a &amp; b</b><b>a &amp; b</b>&lt;i&gt;</p>'].join(''),
  )
})

it('renders undefined and false as nothing, and numbers as text', () => {
  assert.equal(html`${undefined}${false}${0}${42}`.text, '042')
})

it('makes invisible and bidirectional control characters visible', () => {
  assert.equal(html`${'a\u202egpj.exe\u0000\u001b\n\ud800'}`.text, 'a\ufffdgpj.exe\ufffd\ufffd\n\ufffd')
})
