/** This page's half of a login. A browser sends the cookie to every port of a host; the hub takes it only together with
 *  this key, which no other origin can read. The login hands it over behind the `#` of the address. Anybody can write such an
 *  address and, from another port, set such a cookie: only a login in this tab hands a key over. */
const NAME = 'greenroom.key'
const given = /^#key=([0-9a-z]+)$/.exec(location.hash)
if (given) {
  if (sessionStorage.getItem('greenroom.login')) localStorage.setItem(NAME, given[1]!)
  sessionStorage.removeItem('greenroom.login')
  history.replaceState(history.state, '', location.pathname + location.search)
}
const key = () => localStorage.getItem(NAME) ?? ''

export const keyHeaders = (): Record<string, string> => ({ 'x-greenroom-key': key() })
/** A WebSocket knows no headers: it offers the key as a subprotocol. */
export const openSocket = (path: string): WebSocket =>
  new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}${path}`, ['greenroom', `greenroom.key.${key()}`])
export const forgetKey = (): void => localStorage.removeItem(NAME)
