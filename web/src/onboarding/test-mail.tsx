import { useState } from 'react'
import { testMail } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { Button, useErrorMessage } from '../ui/index.ts'

/** Sends a test mail to the administrator, and shows the answer of the mail server. */
export default function TestMail() {
  const texts = useTexts('admin')
  const wording = useErrorMessage()
  const [busy, setBusy] = useState(false)
  const [result, setResult] = useState<{ ok: boolean; text: string }>()

  async function send(): Promise<void> {
    setBusy(true)
    setResult(undefined)
    try {
      const { sent, to, error } = await testMail()
      setResult({ ok: sent, text: sent ? texts.testMailSent(to) : (error ?? '') })
    } catch (error) {
      setResult({ ok: false, text: wording(error) })
    } finally {
      setBusy(false)
    }
  }

  return (
    <div className="stack">
      <div>
        <Button busy={busy} onClick={() => void send()}>
          {texts.testMail}
        </Button>
      </div>
      {result && (
        <p className={result.ok ? 'muted' : 'field-error'} role={result.ok ? 'status' : 'alert'}>
          {result.text}
        </p>
      )}
    </div>
  )
}
