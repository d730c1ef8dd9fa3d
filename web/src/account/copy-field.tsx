import { Check, Copy } from 'lucide-react'
import { useRef, useState } from 'react'
import { useTexts } from '../texts/index.ts'
import { Button, Field } from '../ui/index.ts'

/** Read-only field with a copy button. */
export function CopyField(props: { label: string; value: string }) {
  const common = useTexts('common')
  const input = useRef<HTMLInputElement>(null)
  const [isCopied, setCopied] = useState(false)

  async function copy(): Promise<void> {
    input.current?.select()
    try {
      await navigator.clipboard.writeText(props.value)
      setCopied(true)
    } catch {
      // The clipboard API needs HTTPS. Falls back to execCommand, else the text stays selected.
      setCopied(document.execCommand('copy'))
    }
  }

  return (
    <div className="account-copy">
      <Field label={props.label}>
        {(ids) => (
          <input
            {...ids}
            ref={input}
            className="input"
            readOnly
            value={props.value}
            onFocus={(event) => event.target.select()}
          />
        )}
      </Field>
      <Button icon={isCopied ? Check : Copy} onClick={() => void copy()}>
        <span aria-live="polite">{isCopied ? common.copied : common.copy}</span>
      </Button>
    </div>
  )
}
