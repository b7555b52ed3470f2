{{- define "quoin-cluster.name" -}}
{{ .Values.name | default .Release.Name }}
{{- end }}

{{/* Labels of the release's own objects. The operator selects its objects by other labels. */}}
{{- define "quoin-cluster.labels" -}}
app.kubernetes.io/name: quoin-cluster
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: quoin
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{/* The same labels and the user's, which cannot replace ours. Argument: list of root context and user labels. */}}
{{- define "quoin-cluster.labelsWith" -}}
{{- $ours := include "quoin-cluster.labels" (first .) | fromYaml -}}
{{ mergeOverwrite (deepCopy (last .)) $ours | toYaml }}
{{- end }}

{{/* Image for `helm test`; it must contain quoinctl. */}}
{{- define "quoin-cluster.testImage" -}}
{{- $image := .Values.cluster.image | default dict -}}
{{- $repository := $image.repository | default "quoin" -}}
{{- if .Values.test.image -}}
{{ .Values.test.image }}
{{- else if $image.digest -}}
{{ $repository }}@{{ $image.digest }}
{{- else -}}
{{ $repository }}:{{ $image.tag | default .Values.cluster.version | default .Chart.AppVersion }}
{{- end }}
{{- end }}

{{- define "quoin-cluster.encrypted" -}}
{{- $tls := .Values.cluster.tls | default dict -}}
{{- if ne ($tls.mode | default "Auto") "Off" }}yes{{ end }}
{{- end }}

{{/* Names of the Services: that of all ready members, and that of the leader if it exists. */}}
{{- define "quoin-cluster.services" -}}
{{- $name := include "quoin-cluster.name" . -}}
{{- $leader := ((.Values.cluster.services | default dict).leader | default dict) -}}
{{ $name }}{{ if ne (toString $leader.enabled) "false" }} {{ $name }}-leader{{ end }}
{{- end }}
