{{- define "quoin-operator.notes" -}}
The operator of Quoin {{ .Chart.AppVersion }} reconciles CoordinationClusters in {{ if .Values.watchNamespaces }}{{ join ", " .Values.watchNamespaces }}{{ else }}all namespaces{{ end }}.

    kubectl --namespace {{ .Release.Namespace }} rollout status deployment/{{ include "quoin-operator.name" . }}
    kubectl apply -f - <<END
    apiVersion: quoin.dev/v1alpha1
    kind: CoordinationCluster
    metadata: {name: demo}
    spec: {replicas: 3}
    END
    kubectl wait qc/demo --for=condition=Ready --timeout=5m
{{- if .Values.crds.install }}
{{- if .Values.crds.keep }}

Uninstalling this release keeps the definition, all clusters and their data. A release with another name takes the definition
over with `helm install --take-ownership`, or leaves it alone with `--set crds.install=false`.
{{- else }}

WARNING: with crds.keep=false, uninstalling this release deletes the definition and with it ALL clusters.
{{- end }}
{{- else }}

This release does not install the definition. The operator becomes ready once the definition exists.
{{- end }}
{{- if and .Values.watchNamespaces .Values.crds.install }}

The definition is the only cluster-scoped object of this release. With crds.install=false, another release or person installs it.
{{- end }}
{{- end }}
