/** Spans of time and sums of money in as few signs as possible. */
import { language, type Language } from '@/browser/i18n'

const UNITS: Record<Language, { s: string; m: string; h: string; d: string; between: string }> = {
  en: { s: 's', m: 'm', h: 'h', d: 'd', between: ' ' },
  'zh-CN': { s: '秒', m: '分', h: '时', d: '天', between: '' },
}

export function formatAge(ms: number): string {
  const unit = UNITS[language.value]
  const s = Math.max(0, Math.round(ms / 1000))
  if (s < 60) return `${s}${unit.s}`
  if (s < 3600) return `${Math.floor(s / 60)}${unit.m}`
  if (s < 86_400) return `${Math.floor(s / 3600)}${unit.h}`
  return `${Math.floor(s / 86_400)}${unit.d}`
}

export function formatDuration(ms: number): string {
  const unit = UNITS[language.value]
  const s = Math.max(0, Math.round(ms / 100) / 10)
  if (s < 10) return `${s.toFixed(1)}${unit.s}`
  if (Math.round(s) < 60) return `${Math.round(s)}${unit.s}`
  const whole = Math.round(s)
  const m = Math.floor(whole / 60)
  if (m < 60) return `${m}${unit.m}${unit.between}${whole % 60}${unit.s}`
  return `${Math.floor(m / 60)}${unit.h}${unit.between}${m % 60}${unit.m}`
}

export const formatClockTime = (ms: number, locale: string): string =>
  new Date(ms).toLocaleTimeString(locale, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })

export function formatMoney(usd: number): string {
  if (usd === 0) return '$0'
  return usd < 0.01 ? '<$0.01' : `$${usd.toFixed(usd < 10 ? 2 : 0)}`
}

export function formatCount(n: number): string {
  if (n < 1000) return String(n)
  if (n < 1_000_000) return `${(n / 1000).toFixed(n < 10_000 ? 1 : 0)}k`
  return `${(n / 1_000_000).toFixed(1)}M`
}
