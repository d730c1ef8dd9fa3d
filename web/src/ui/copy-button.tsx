import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useTexts } from '../texts/index.ts'
import { Button, IconButton } from './button.tsx'
import { copyText } from './clipboard.ts'
import { useFailureToast } from './toasts.tsx'

const SHOWN_MS = 2500

/** Copies a text and confirms it in place. With `label` it is an icon button. */
export function CopyButton(props: { text: string; label?: string; primary?: boolean }) {
  const common = useTexts('common')
  const failed = useFailureToast()
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = () => {
    copyText(props.text).then(() => setCopied(true), failed)
  }
  const icon = copied ? Check : Copy
  const said = (
    <span className="visually-hidden" role="status">
      {copied ? common.copied : ''}
    </span>
  )
  if (props.label !== undefined) {
    return (
      <>
        <IconButton label={copied ? common.copied : props.label} icon={icon} onClick={copy} />
        {said}
      </>
    )
  }
  return (
    <>
      <Button variant={props.primary ? 'primary' : 'plain'} icon={icon} onClick={copy}>
        {copied ? common.copied : common.copy}
      </Button>
      {said}
    </>
  )
}
