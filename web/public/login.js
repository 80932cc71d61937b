// Whoever comes from another site brings no cookie at first, though logged in: ask from here, and go on.
const wanted = document.querySelector('input[name=next]').value
const key = localStorage.getItem('greenroom.key')
if (key && !document.querySelector('[role=alert]') && !document.querySelector('input[name=code]').value)
  fetch('/api/me', { headers: { 'x-greenroom-key': key } }).then((answer) => answer.ok && location.replace(wanted))
// A room's token that came in the address does not stay there.
if (new URLSearchParams(location.search).has('token')) history.replaceState(null, '', '/login')

// The form comes in English, which needs no script; this is for who reads Chinese.
const language = localStorage.getItem('greenroom.language') ?? navigator.language
if (language.startsWith('zh')) {
  document.documentElement.lang = 'zh-CN'
  const words = {
    'h1 + p': '编程智能体的控制室。',
    'label[for=code]': '一次性登录码',
    button: '登录',
  }
  for (const [where, text] of Object.entries(words)) document.querySelector(where).textContent = text
  const hint = document.querySelector('.hint')
  hint.firstChild.textContent = '用 '
  hint.lastChild.textContent = ' 获取登录码，或在另一个浏览器的「访问权限」中配对此设备。'
  const problem = document.querySelector('[role=alert]')
  if (problem?.textContent.startsWith('This code')) problem.textContent = '此登录码已用过或已过期。请重新获取：greenroom token login'
  if (problem?.textContent.startsWith('Too many')) problem.textContent = '错误次数过多，请稍后再试。'
}
