import assert from 'node:assert/strict'
import { it } from 'node:test'
import { html } from './html.ts'

it('escapes what is put into a template, and nothing twice', () => {
  const inner = html`<b>${'a & b'}</b>`
  assert.equal(
    html`<p title="${`"'<>&\``}">${inner}${[inner, '<i>']}</p>`.text,
    ['<p title="&quot;&#39;&lt;&gt;&amp;&#96;">', '<b>a &amp; b</b><b>a &amp; b</b>&lt;i&gt;</p>'].join(''),
  )
})

it('shows nothing for undefined and false, and numbers as they are', () => {
  assert.equal(html`${undefined}${false}${0}${42}`.text, '042')
})

it('shows what would hide or turn text as a sign that something is there', () => {
  assert.equal(html`${'a\u202egpj.exe\u0000\u001b\n\ud800'}`.text, 'a\ufffdgpj.exe\ufffd\ufffd\n\ufffd')
})
