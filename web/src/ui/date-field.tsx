import './date-field.css'
import { CalendarDays } from 'lucide-react'
import { Suspense, useRef, useState } from 'react'
import { useFormats, useTexts } from '../texts/index.ts'
import { Calendar } from './calendar.tsx'
import { formatTyped, parseTyped } from './calendar-dates.ts'
import { Field } from './field.tsx'
import { PopoverPanel } from './overlays.ts'

interface DateInputProps {
  /** `YYYY-MM-DD`, empty for none. */
  readonly value: string
  readonly onChange: (date: string) => void
  readonly min?: string
  readonly max?: string
  readonly required?: boolean
}

/** A date, typed as the language writes it, or chosen in a calendar. */
export function DateField({ label, ...rest }: DateInputProps & { label: string }) {
  return <Field label={label}>{(ids) => <DateInput {...rest} {...ids} />}</Field>
}

/** The same without a visible label. */
export function DateInput(
  props: DateInputProps & { id?: string; 'aria-label'?: string; className?: string },
) {
  const { value, min, max, onChange, className = '', ...rest } = props
  const texts = useTexts('common')
  const { locale } = useFormats()
  const [typed, setTyped] = useState<string>()
  const [isOpen, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const isAllowed = (date: string) => date >= (min ?? '') && (max === undefined || date <= max)

  function type(text: string): void {
    setTyped(text)
    const date = text.trim() === '' ? '' : parseTyped(text, locale)
    if (date !== undefined && (date === '' || isAllowed(date)) && date !== value) onChange(date)
  }

  return (
    <span className={`input-with-button ${className}`.trim()}>
      <input
        {...rest}
        className="input date-input"
        type="text"
        inputMode="numeric"
        autoComplete="off"
        placeholder={formatTyped('2099-12-31', locale).replace(/\d/g, '–')}
        value={typed ?? formatTyped(value, locale)}
        onChange={(event) => type(event.target.value)}
        // What is not a date is replaced by the last one that was.
        onBlur={() => setTyped(undefined)}
      />
      <button
        ref={button}
        type="button"
        className="icon-button"
        aria-label={texts.chooseDate}
        title={texts.chooseDate}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <CalendarDays size={19} aria-hidden />
      </button>
      {isOpen && (
        <Suspense>
          <PopoverPanel
            className="date-panel"
            label={texts.chooseDate}
            initialFocus='[data-date][tabindex="0"]'
            anchor={button}
            onClose={() => setOpen(false)}
          >
            <Calendar
              value={value}
              today={localToday()}
              min={min}
              max={max}
              onChoose={(date) => {
                setOpen(false)
                onChange(date)
              }}
            />
          </PopoverPanel>
        </Suspense>
      )}
    </span>
  )
}

function localToday(): string {
  const now = new Date()
  return [now.getFullYear(), now.getMonth() + 1, now.getDate()]
    .map((part) => String(part).padStart(2, '0'))
    .join('-')
}
