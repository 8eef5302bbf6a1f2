// A webhook as most are: controller-runtime's server, decoder and patch. It adds one init container to each pod.
//
// usage: peer PORT FOLDER, where the folder has tls.crt and tls.key
package main

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

var validator = corev1.Container{
	Name:  "peer-validator",
	Image: "registry.example/validator:v1",
	Args:  []string{"validate"},
	Env:   []corev1.EnvVar{{Name: "CHECKS", Value: `[{"type":"outbound","port":20001}]`}},
}

type injector struct{ decoder admission.Decoder }

func (i injector) Handle(_ context.Context, request admission.Request) admission.Response {
	var pod corev1.Pod
	if err := i.decoder.Decode(request, &pod); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	pod.Spec.InitContainers = append([]corev1.Container{validator}, pod.Spec.InitContainers...)
	changed, err := json.Marshal(&pod)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	return admission.PatchResponseFromRaw(request.Object.Raw, changed)
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: peer PORT FOLDER")
	}
	port, err := strconv.Atoi(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	ctrl.SetLogger(zap.New())
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		log.Fatal(err)
	}
	server := webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: port, CertDir: os.Args[2]})
	server.Register("/mutate", &webhook.Admission{Handler: injector{admission.NewDecoder(scheme)}})
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := server.Start(ctx); err != nil {
		log.Fatal(err)
	}
}
